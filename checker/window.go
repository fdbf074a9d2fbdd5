package checker

import "github.com/lockstorm/lockstorm/history"

// window is the time in which a hold excludes others: half-open, from the
// return of acquire to the first event that ends it.
type window struct {
	begun     bool
	over      bool
	tentative bool // begun by an act of a hold whose acquire has not returned, which may come to nothing

	anew bool // begun by an extension, after the hold had lapsed

	// fresh and closing: it began, or ended, within this instant.
	fresh   bool
	closing bool
	by      history.Kind // what ended it

	call history.Time // of acquire, or of the extension that began it anew
	from history.Time
	end  history.Time
}

// endBy ends every window that the event ends; lapses end only what they are
// the end of.
func (x *exclusion) endBy(f *fact) {
	switch f.Kind {
	case history.Lapse:
	case history.Kill:
		x.endAll(f.client, f.Kind)
	case history.End:
		for _, c := range x.ledger.clients {
			x.endAll(c, f.Kind)
		}
	default:
		x.end(f.hold, f.Time, f.Kind)
	}
}

func (x *exclusion) endAll(c *client, by history.Kind) {
	for _, h := range c.holds {
		x.end(h, x.now, by)
	}
}

// endBegun ends a window whose validity is over, unless it has still to begin:
// until acquire returns, the end is not known.
func (x *exclusion) endBegun(h *hold) {
	w := &h.windows[x.index]
	switch {
	case !w.begun:
	case w.fresh:
		x.end(h, h.reached.at, history.Lapse)
	default:
		x.end(h, x.now, history.Lapse)
	}
}

func (x *exclusion) end(h *hold, at history.Time, by history.Kind) {
	if h == nil {
		return
	}
	w := &h.windows[x.index]
	if w.over {
		if w.by == history.Lapse {
			w.by = by // from now on no extension can give it back
		}
		w.end = min(w.end, at)
		return
	}
	w.over, w.closing, w.end, w.by = true, true, at, by
	x.touch(h)
}

func (x *exclusion) touch(h *hold) { x.touched = append(x.touched, h) }

// begin begins the hold's window now.
func (x *exclusion) begin(h *hold, call history.Time, tentative bool) {
	w := &h.windows[x.index]
	if w.tentative && w.from == x.now {
		w.tentative = false
		return
	}
	x.cancel(h)
	w.begun, w.fresh, w.tentative = true, true, tentative
	w.call, w.from = call, x.now
	x.touch(h)
}

// act is a call that only a holder makes. If the acquire has not returned, it
// counts as returned here, provided that the act succeeds.
func (x *exclusion) act(h *hold) {
	if h != nil && !h.returned && !h.refused() && !h.windows[x.index].begun {
		x.begin(h, h.acquire.at, true)
	}
}

func (x *exclusion) written(h *hold, o history.Outcome) {
	switch o {
	case history.OK:
		x.confirm(h)
	case history.Declined:
		x.fail(h)
	}
}

// confirm says that an act of the hold has succeeded.
func (x *exclusion) confirm(h *hold) {
	if h == nil {
		return
	}
	w := &h.windows[x.index]
	switch {
	case !w.begun && !h.returned && !h.refused():
		x.begin(h, h.acquire.at, false)
	case w.tentative:
		w.tentative = false
		x.line(h).confirm(h)
		x.drain(x.line(h))
	}
}

// fail says that an act has failed. Another one may still be under way.
func (x *exclusion) fail(h *hold) {
	if h != nil && h.writes == 0 && !h.extend.open {
		x.cancel(h)
	}
}

// cancel says that the act which would have begun the window has failed.
func (x *exclusion) cancel(h *hold) {
	if h == nil || !h.windows[x.index].tentative {
		return
	}
	w := &h.windows[x.index]
	w.tentative, w.begun, w.fresh = false, false, false
	x.line(h).drop(h)
	x.drain(x.line(h))
}

// renew continues the hold to its new end. An extension that is granted only
// after the old end has passed begins a new window of the same hold, called
// when the extension was: in between nobody could rely on it. If nothing is
// left of that window either, there is none.
func (x *exclusion) renew(h *hold, f *fact) {
	x.confirm(h)
	if h == nil {
		return
	}
	w := &h.windows[x.index]
	switch {
	case !w.over || w.by != history.Lapse:
	case w.end == x.now:
		w.over, w.closing = false, false
	default:
		x.gather(h)
		*w = window{anew: true}
		x.begin(h, f.call.at, false)
	}
}
