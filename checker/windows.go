package checker

import "github.com/lockstorm/lockstorm/history"

// Window is the time in which a grant excludes others, for lease or section exclusion:
// half-open, from From to To.
type Window struct {
	Grant Grant

	// Fence is the fencing token of the grant; 0: none.
	Fence uint64

	// Call is when acquire was called, or the late extension that began the window. For an
	// empty window it is the earliest instant at which the lock had to be free.
	Call history.Time

	From history.Time // when that call returned
	To   history.Time // for an empty window: From

	// Empty: the window ended before it began.
	Empty bool

	// Late: an extension began the window after the hold's last window had ended, at Over.
	// Nobody else may have held the lock in between.
	Late bool
	Over history.Time

	// By is the kind of event that ended it; 0: the history ended first.
	By history.Kind
}

// Ending names what ended the window.
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

// Windows calls each for every window of lease or section exclusion when it ends, and in
// Finish for those that are open. It panics if New was not asked for the property. Call it
// before the first event.
func (p *Checker) Windows(of Property, each func(Window)) { p.checkerOf(of).(*exclusion).each = each }

// windowOf returns a live window that lasts until to.
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

// claimOf returns a window that began late and ended in the same instant.
func (x *exclusion) claimOf(t *windowEvent) Window {
	return Window{
		Grant: t.grant(), Fence: t.hold.fence, Call: t.hold.windows[x.index].call, From: t.at, To: t.at, Empty: true, By: t.by,
		Late: t.hold.past.ever, Over: t.hold.past.end,
	}
}

func (x *exclusion) tellOpen(end history.Time) {
	for _, r := range x.state.inOrder() {
		for _, s := range r.windows[x.index].live {
			x.each(x.windowOf(s, end, 0))
		}
	}
}
