package checker

import "github.com/lockstorm/lockstorm/history"

// Window is the time in which a grant excludes others, by lease exclusion or section
// exclusion: half-open, from From to To.
type Window struct {
	Grant Grant

	// Fence is the grant's; 0: it bears none.
	Fence uint64

	// Call is when the operation was called that began the window: acquire, or an
	// extension that was granted only after the old end. Of an empty window it is the
	// earliest instant at which the lock had to be free.
	Call history.Time

	From history.Time // return of that operation
	To   history.Time // of an empty window: From

	// Empty says that it was over before it began.
	Empty bool

	// Late says that an extension began it, which was granted when the hold's last window
	// was over, since the instant Over: nobody else may have had one in between.
	Late bool
	Over history.Time

	// By is the kind of event that ended it; 0: nothing did before the history ended.
	By history.Kind
}

// Ending says in a word or two what ended the window.
func (w *Window) Ending() string {
	switch w.By {
	case history.Release:
		return "release"
	case history.Lost:
		return "told of the loss"
	case history.Lapse:
		return "validity ends"
	case history.Expiring:
		return "warned"
	case history.Kill:
		return "death"
	}
	return "the history ends"
}

// Windows makes a panel that was asked for lease or section exclusion tell each window of
// it when it ends, in the order in which they do, and when it is asked to finish those
// that are open then. It is to be called before the first event.
func (p *Checker) Windows(of Property, each func(Window)) { p.checkerOf(of).(*exclusion).each = each }

// windowOf tells a live window that lasts until to.
func (x *exclusion) windowOf(s span, to history.Time, by history.Kind) Window {
	w := Window{
		Grant: s.grant(), Fence: s.hold.fence, Call: s.hold.acquire.at, From: s.from, To: to, By: by,
	}
	if x.beginsAnew() {
		w.Late, w.Over = s.hold.past.ever, s.hold.past.end
	}
	if own := &s.hold.windows[x.index]; own.from == s.from {
		w.Call = own.call
	}
	return w
}

// claimOf tells a window that began late and ended in the same instant.
func (x *exclusion) claimOf(t *windowEvent) Window {
	return Window{
		Grant: t.grant(), Fence: t.hold.fence, Call: t.hold.windows[x.index].call, From: t.at, To: t.at, Empty: true, By: t.by,
		Late: t.hold.past.ever, Over: t.hold.past.end,
	}
}

func (x *exclusion) tellOpen(end history.Time) {
	for _, r := range x.state.inOrder() {
		for _, s := range r.lines[x.index].live {
			x.each(x.windowOf(s, end, 0))
		}
	}
}
