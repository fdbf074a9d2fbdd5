package checker

import "github.com/lockstorm/lockstorm/history"

// window is the time in which a hold excludes others: half-open, from the
// return of acquire to the first event that ends it.
type window struct {
	begun     bool
	over      bool
	tentative bool // begun by an act of a hold whose acquire has not returned, which may come to nothing
	anew      bool // begun by an extension, after the hold had lapsed

	// fresh and closing: it began, or ended, within this instant.
	fresh   bool
	closing bool
	by      history.Kind // what ended it

	barred history.Time // when, after its validity, its holder ended it; no extension is granted later

	acts []*impliedGrant // with each of which it may turn out to have begun, in the order of their calls

	call history.Time // of acquire, or of the extension that began it anew
	from history.Time
	end  history.Time
}

// past is the last window of lease exclusion of a hold that has ended, as far as it has been
// judged.
type past struct {
	ever bool
	from history.Time
	end  history.Time // of an empty window: from
}

// change returns what has happened to the window of a hold in the instant that is over.
// Of an extension of which nothing is left nothing has: its own validity was over when it
// returned. One that its holder ended in the instant in which it was granted has said all
// the same that the hold had gone on until then.
func (w *window) change(h *hold) windowEventKind {
	switch {
	case w.fresh && w.over && w.anew && h.expired() && h.expiry() <= w.from:
		return noTurn
	case w.fresh && w.over && w.anew:
		return claimTurn
	case w.fresh && w.over:
		return emptyTurn
	case w.fresh:
		return beginTurn
	case w.closing && w.begun:
		return endTurn
	}
	return noTurn
}

// beginning returns what has happened if the window begins with an act, in the instant of
// which it was called.
func (w *window) beginning(a *impliedGrant) windowEventKind {
	switch {
	case a.void:
		return noTurn
	case w.over:
		return emptyTurn
	}
	return beginTurn
}

// endAllBy ends the windows of all holds that the event ends, being about no one hold.
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

// endBegun ends a window whose validity is over, unless it has still to begin:
// until acquire returns, the end is not known.
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
			w.by, w.barred = by, x.now // from now on no extension can give it back
		}
		w.end = min(w.end, at)
		return
	}
	w.over, w.closing, w.end, w.by = true, true, at, by
	x.touch(h)
}

func (x *exclusion) touch(h *hold) { x.turns = append(x.turns, windowEvent{hold: h}) }

// begin begins the hold's window now.
func (x *exclusion) begin(h *hold, call history.Time) {
	w := &h.windows[x.index]
	w.begun, w.fresh = true, true
	w.call, w.from = call, x.now
	x.touch(h)
}

// granted begins the window of a try that returns, unless an act has shown before that it
// was granted.
func (x *exclusion) granted(h *hold) {
	w := &h.windows[x.index]
	if len(w.acts) > 0 {
		x.forget(h)
	}
	if !w.begun {
		x.begin(h, h.acquire.at)
	}
}

// renew continues the hold to its new end. An extension that is granted only
// after the old end has passed begins a new window of the same hold, called
// when the extension was: in between nobody could rely on it. But it is one hold
// that goes on, so that nobody else may have had one in between: see
// [line.interrupted]. If nothing is left of the extension when it returns, because its
// own validity is over by then, there is no new window, and it is as if it had failed.
//
// That is for lease exclusion. What ends a section (the release, the news of the
// loss, the warning, the death) its holder knows of, or is no more: no extension takes
// that back, and until then the section goes on, whatever becomes of the validity. Who
// gets in after the lapse overlaps it.
func (x *exclusion) renew(h *hold, f *fact) {
	w := &h.windows[x.index]
	switch {
	case w.over && w.barred == x.now && w.end < x.now: // an instant has no order
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

// beginAnew begins a window of a hold whose last one was over, by an extension.
func (x *exclusion) beginAnew(h *hold, f *fact) {
	for i := range x.turns {
		if t := &x.turns[i]; t.hold == h {
			t.gather(x)
		}
	}
	w := &h.windows[x.index]
	*w = window{anew: true, acts: w.acts}
	x.begin(h, f.call.at)
}
