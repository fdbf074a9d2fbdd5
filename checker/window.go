package checker

import "github.com/lockstorm/lockstorm/history"

// window is the time in which a hold excludes others: half-open, from the
// return of acquire to the first event that ends it.
type window struct {
	begun     bool
	over      bool
	tentative bool // begun by an act of a hold whose acquire has not returned, which may come to nothing
	turn      int  // its place in the line, while the act has not come to anything; 0: none

	anew bool // begun by an extension, after the hold had lapsed

	// fresh and closing: it began, or ended, within this instant.
	fresh   bool
	closing bool
	by      history.Kind // what ended it

	call history.Time // of acquire, or of the extension that began it anew
	from history.Time
	end  history.Time
}

// change returns what has happened to the window in the instant that is over.
func (w *window) change() turnKind {
	switch {
	case w.fresh && w.over && w.anew:
		return noTurn
	case w.fresh && w.over:
		return emptyTurn
	case w.fresh:
		return beginTurn
	case w.closing && w.begun:
		return endTurn
	}
	return noTurn
}

// endAllBy ends the windows of all holds that the event ends, being about no one hold.
func (x *exclusion) endAllBy(f *fact) {
	switch f.Kind {
	case history.Kill:
		x.endAll(f.client, f.Kind)
	case history.End:
		for _, c := range x.ledger.clients {
			x.endAll(c, f.Kind)
		}
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

func (x *exclusion) touch(h *hold) { x.turns = append(x.turns, turn{hold: h}) }

// begin begins the hold's window now.
func (x *exclusion) begin(h *hold, call history.Time, tentative bool) {
	w := &h.windows[x.index]
	if w.tentative && w.from == x.now {
		w.tentative = false
		return
	}
	if w.tentative {
		x.cancel(h)
	}
	w.begun, w.fresh, w.tentative = true, true, tentative
	w.call, w.from = call, x.now
	x.touch(h)
}

// act is a call that only a holder makes. If the acquire has not returned, it
// counts as returned here, provided that the act succeeds.
func (x *exclusion) act(h *hold) {
	if !h.returned && !h.refused() && !h.windows[x.index].begun {
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
	w := &h.windows[x.index]
	switch {
	case !w.begun && !h.returned && !h.refused():
		x.begin(h, h.acquire.at, false)
	case w.tentative:
		w.tentative = false
		x.certain(h, (*line).confirm)
	}
}

// fail says that an act has failed. Another one may still be under way.
func (x *exclusion) fail(h *hold) {
	if h.writes == 0 && !h.extend.open {
		x.cancel(h)
	}
}

// cancel says that the act which would have begun the window has failed.
func (x *exclusion) cancel(h *hold) {
	w := &h.windows[x.index]
	if !w.tentative {
		return
	}
	w.tentative, w.begun, w.fresh = false, false, false
	x.certain(h, (*line).drop)
}

// certain makes the hold's tentative turn certain in one way or the other, if it
// has come to the line.
func (x *exclusion) certain(h *hold, become func(l *line, place int)) {
	w, l := &h.windows[x.index], x.line(h)
	if w.turn == 0 {
		return
	}
	become(l, w.turn)
	w.turn = 0
	x.drain(l)
}

// renew continues the hold to its new end. An extension that is granted only
// after the old end has passed begins a new window of the same hold, called
// when the extension was: in between nobody could rely on it. If nothing is
// left of that window either, there is none.
func (x *exclusion) renew(h *hold, f *fact) {
	x.confirm(h)
	w := &h.windows[x.index]
	switch {
	case !w.over || w.by != history.Lapse:
	case w.end == x.now:
		w.over, w.closing = false, false
	default:
		x.touch(h)
		x.turns[len(x.turns)-1].gather(x)
		*w = window{anew: true}
		x.begin(h, f.call.at, false)
	}
}
