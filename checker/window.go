package checker

import "github.com/lockstorm/lockstorm/history"

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
		x.end(h, x.now, by)
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
