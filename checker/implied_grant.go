package checker

import (
	"slices"

	"github.com/lockstorm/lockstorm/history"
)

// impliedGrant is a call that only a holder makes, under a try that has not returned. If it comes to
// something the try was granted, and its acquire counts as returned at the call of the
// first impliedGrant that did. Until that is known every impliedGrant has a turn of its own in the line.
type impliedGrant struct {
	kind    history.Kind // Extend or Write
	value   int64        // that is written
	at      history.Time
	came    bool // to something
	yielded bool // its turn has given way: see [maxWaiting]
	begins  bool // the window begins with it
	void    bool // it does not
}

// open reports whether it is not known yet if the window begins with the act.
func (a *impliedGrant) open() bool { return !a.begins && !a.void }

// actOf returns the newest act of a kind and a value, or nil: it has been decided.
func (w *window) actOf(kind history.Kind, value int64) *impliedGrant {
	for _, a := range slices.Backward(w.acts) {
		if a.kind == kind && a.value == value {
			return a
		}
	}
	return nil
}

// awaits reports whether it may yet come out that the window began with an act. Of a dead
// client writes alone can still be heard of.
func (w *window) awaits(c *client) bool {
	for _, a := range w.acts {
		if !a.yielded || a.kind == history.Write || !c.dead {
			return true
		}
	}
	return false
}

// act enters a call that only a holder makes.
func (x *exclusion) act(h *hold, f *fact) {
	w := &h.windows[x.index]
	if h.returned || h.refused() || w.begun && !w.tentative {
		return
	}
	if f.Kind == history.Extend { // what returns from now on is the later extension
		x.drop(w, w.actOf(f.Kind, f.Value))
	}
	a := &impliedGrant{kind: f.Kind, value: f.Value, at: x.now}
	w.acts = append(w.acts, a)
	x.turns = append(x.turns, windowEvent{hold: h, act: a})
	if !w.begun {
		w.begun, w.tentative, w.call = true, true, h.acquire.at
	}
	x.decide(h)
}

// succeed says that an act of the hold has come to something.
func (x *exclusion) succeed(h *hold, kind history.Kind, value int64) {
	w := &h.windows[x.index]
	if h.returned || h.refused() {
		return
	}
	a := w.actOf(kind, value)
	if a != nil && a.yielded {
		x.confirmTooLate(h, a)
		a = w.candidate()
	}
	if a != nil {
		a.came = true
	} else if !w.begun {
		x.begin(h, h.acquire.at)
	}
	x.decide(h)
}

// fail says that an act has come to nothing.
func (x *exclusion) fail(h *hold, kind history.Kind, value int64) {
	w := &h.windows[x.index]
	x.drop(w, w.actOf(kind, value))
	x.decide(h)
}

// drop makes nothing of an act, unless it has come to something.
func (x *exclusion) drop(w *window, a *impliedGrant) {
	if a != nil && !a.came {
		a.void = true
		w.acts = remove(w.acts, a)
	}
}

// candidate returns the first act that may begin the window, or nil: of those of one
// instant one that has come to something.
func (w *window) candidate() (first *impliedGrant) {
	for _, a := range w.acts {
		if !a.yielded && (first == nil || a.at == first.at && a.came) {
			first = a
		}
	}
	return first
}

// decide finds out with which act the window begins, if that is certain by now, and judges
// what had to wait for it.
func (x *exclusion) decide(h *hold) {
	w := &h.windows[x.index]
	first := w.candidate()
	if w.tentative && first != nil {
		w.from = first.at
	}
	if first == nil || first.came {
		w.begun = w.begun && !w.tentative || first != nil
		w.tentative = false
		x.begun(w, first)
	}
	x.drain(x.line(h))
}

// begun says that the window begins with an act, and so with no other one.
func (x *exclusion) begun(w *window, first *impliedGrant) {
	for i := len(w.acts) - 1; i >= 0; i-- {
		switch a := w.acts[i]; {
		case a == first:
			a.begins = true
			w.acts = cut(w.acts, i)
		case !a.yielded:
			a.void = true
			w.acts = cut(w.acts, i)
		}
	}
}

// forget makes nothing of all acts of the hold: its try has returned.
func (x *exclusion) forget(h *hold) {
	w := &h.windows[x.index]
	for _, a := range w.acts {
		a.void = true
	}
	w.acts = nil
	x.decide(h)
}

// yield lets the turn of an act give way, to those that wait behind it.
func (x *exclusion) yield(h *hold, a *impliedGrant) {
	a.yielded, a.void = true, true
	x.decide(h)
	if h.over || h.client.dead {
		x.state.settling = append(x.state.settling, h)
	}
}

// confirmTooLate says that an act has come to something whose turn has given way: what it met, if
// anything, was not seen.
func (x *exclusion) confirmTooLate(h *hold, a *impliedGrant) {
	w := &h.windows[x.index]
	w.acts = remove(w.acts, a)
	if x.doubt != nil {
		return
	}
	x.uncertain = &Place{Resource: h.resource.name, From: a.at, To: x.now}
	x.doubt = &Statement{
		Kind: UndecidedOverlap, Client: h.client.number, Resource: h.resource.name, Token: h.token,
		At: a.at, To: x.now, Left: a.kind.String(), Detail: x.window,
	}
}

// giveUp drops the acts of which nothing was heard again.
func (x *exclusion) giveUp() {
	for _, c := range x.state.clients {
		for _, h := range c.holds {
			w := &h.windows[x.index]
			if len(w.acts) == 0 {
				continue
			}
			for i := len(w.acts) - 1; i >= 0; i-- {
				x.drop(w, w.acts[i])
			}
			x.decide(h)
		}
	}
}

func (x *exclusion) written(h *hold, f *fact) {
	switch f.Outcome {
	case history.OK:
		x.succeed(h, history.Write, f.Value)
	case history.Declined:
		x.fail(h, history.Write, f.Value)
	}
}
