package checker

import (
	"cmp"
	"strings"

	"github.com/lockstorm/lockstorm/history"
)

// window is the time in which a hold excludes others: half-open, from the return of acquire
// to the first event that ends it.
type window struct {
	begun     bool
	over      bool
	tentative bool // begun by a call of a holder whose acquire has not returned; the call may fail
	anew      bool // begun by an extension, after the hold had lapsed

	// fresh, closing: it began, or ended, in this instant.
	fresh   bool
	closing bool
	by      history.Kind // what ended it

	barred history.Time // when its holder ended it after its validity; no later extension continues it

	implied []*impliedGrant // calls with which it may have begun, in their order

	call history.Time // of acquire, or of the extension that began it anew
	from history.Time
	end  history.Time
}

// empty reports whether the window ended before it began, or when it did.
func (w *window) empty() bool { return w.begun && w.over && w.end <= w.from }

// past is the last ended window of a hold, for lease exclusion.
type past struct {
	ever bool
	from history.Time
	end  history.Time // of an empty window: from
}

// change returns what happened to the window of a hold in the instant. An extension whose
// own validity was over when it returned changes nothing. An extension that was granted and
// ended by its holder in one instant still claims that the hold had gone on until then.
func (w *window) change(h *hold) windowEventKind {
	switch {
	case w.fresh && w.over && w.anew && h.expired() && h.expiry() <= w.from:
		return noTurn
	case w.fresh && w.over && w.anew:
		return extendedLate
	case w.fresh && w.over:
		return windowEmpty
	case w.fresh:
		return windowBegins
	case w.closing && w.begun:
		return windowEnds
	}
	return noTurn
}

// beginning returns what happened in the instant of a call, if the window begins with that
// call.
func (w *window) beginning(a *impliedGrant) windowEventKind {
	switch {
	case a.void:
		return noTurn
	case w.over:
		return windowEmpty
	}
	return windowBegins
}

// endAllBy ends the windows of all holds that a death, or the end of the history, ends.
func (x *exclusion) endAllBy(f *fact) {
	switch f.Kind {
	case history.Kill:
		x.endAll(f.client, f.Kind)
	case history.End:
		for _, c := range x.state.clients {
			x.endAll(c, f.Kind)
		}
	}
}

func (x *exclusion) endAll(c *client, by history.Kind) {
	for _, h := range c.holds {
		if x.ends.has(by) || x.state.tied(h) {
			x.end(h, x.now, by)
		}
	}
}

// endBegun ends a window whose validity is over. Before acquire returns the end is unknown,
// so that a window that has not begun does not end.
func (x *exclusion) endBegun(h *hold) {
	w := &h.windows[x.index]
	switch {
	case !w.begun:
	case w.from == x.now:
		x.end(h, h.expiry(), history.Lapse)
	default:
		x.end(h, x.now, history.Lapse)
	}
}

func (x *exclusion) end(h *hold, at history.Time, by history.Kind) {
	w := &h.windows[x.index]
	if w.over {
		if w.by == history.Lapse && by != history.Lapse {
			w.by, w.barred = by, x.now // no later extension continues it
		}
		w.end = min(w.end, at)
		return
	}
	w.over, w.closing, w.end, w.by = true, true, at, by
	x.touch(h)
}

func (x *exclusion) touch(h *hold) { x.events = append(x.events, windowEvent{hold: h}) }

// begin begins the hold's window now.
func (x *exclusion) begin(h *hold, call history.Time) {
	w := &h.windows[x.index]
	w.begun, w.fresh = true, true
	w.call, w.from = call, x.now
	x.touch(h)
}

// granted begins the window of a try that returns, unless a call has begun it before.
func (x *exclusion) granted(h *hold) {
	w := &h.windows[x.index]
	if len(w.implied) > 0 {
		x.forget(h)
	}
	if !w.begun {
		x.begin(h, h.acquire.at)
	}
}

// renew continues the hold to its new end. If the extension is granted after the old end, a
// new window of the same hold begins: in between nobody could rely on the hold. Nobody else
// may have held the lock in between, because the extension says that the hold went on: see
// [resourceWindows.interrupted]. An extension whose own validity is over when it returns
// counts as failed.
//
// This applies to lease exclusion. A section ends by a release, a loss, a warning or a death,
// which no extension takes back. It does not end with the validity, so that a grant to
// another client after the lapse overlaps it.
func (x *exclusion) renew(h *hold, f *fact) {
	w := &h.windows[x.index]
	switch {
	case w.over && w.barred == x.now && w.end < x.now: // events of one instant have no order
		by := w.by
		x.beginAnew(h, f)
		x.end(h, x.now, by)
	case !w.over || w.by != history.Lapse:
	case w.end == x.now:
		w.over, w.closing = false, false
	default:
		x.beginAnew(h, f)
	}
}

// beginAnew begins a new window of a hold by an extension.
func (x *exclusion) beginAnew(h *hold, f *fact) {
	for i := range x.events {
		if t := &x.events[i]; t.hold == h {
			t.gather(x)
		}
	}
	w := &h.windows[x.index]
	*w = window{anew: true, implied: w.implied}
	x.begin(h, f.call.at)
}

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
// before the first event. See [Checker.byOneClock].
func (p *Checker) Windows(of Property, each func(Window)) {
	p.byOneClock()
	p.checkerOf(of).(*exclusion).each = each
}

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

// windowEvent is the start or end of a window.
type windowEvent struct {
	kind    windowEventKind
	hold    *hold
	at      history.Time
	since   history.Time  // for an empty window: the earliest p
	by      history.Kind  // what ended the window
	implied *impliedGrant // the call with which the window may have begun; nil: it is certain
}

// open reports whether it is unknown yet if the event takes place.
func (t *windowEvent) open() bool { return t.implied != nil && t.implied.open() }

type windowEventKind uint8

// The kinds, in the order in which they are judged in an instant.
const (
	noTurn windowEventKind = iota
	windowEnds
	windowBegins
	windowEmpty
	extendedLate // a late extension was granted, and its hold ended in the same instant
)

// compare orders the events of one instant, so that the order in which they were recorded
// makes no difference.
func (t windowEvent) compare(u windowEvent) int {
	if t.kind != u.kind {
		return cmp.Compare(t.kind, u.kind)
	}
	return cmp.Or(
		cmp.Compare(t.hold.client.number, u.hold.client.number),
		strings.Compare(t.hold.token, u.hold.token),
		cmp.Compare(t.since, u.since),
	)
}
