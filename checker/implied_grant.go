package checker

import (
	"slices"

	"github.com/lockstorm/lockstorm/history"
)

// impliedGrant is a call that only a holder makes (extend or write) under a try that has not
// returned. If it succeeds, the try was granted, and its acquire counts as returned at the
// call of the first one that succeeded. Until that is known each of them has a window event
// of its own that waits.
type impliedGrant struct {
	kind      history.Kind // Extend or Write
	value     int64        // the value written
	at        history.Time
	succeeded bool // to something
	yielded   bool // its event was skipped: see [maxWaiting]
	begins    bool // the window begins with it
	void      bool // it does not
}

// open reports whether it is unknown yet if the window begins with the call.
func (a *impliedGrant) open() bool { return !a.begins && !a.void }

// actOf returns the newest call of a kind and a value that is not decided, or nil.
func (w *window) actOf(kind history.Kind, value int64) *impliedGrant {
	for _, a := range slices.Backward(w.implied) {
		if a.kind == kind && a.value == value {
			return a
		}
	}
	return nil
}

// awaits reports whether the window may still turn out to have begun with a call. Of a dead
// client only writes can still be recorded.
func (w *window) awaits(c *client) bool {
	for _, a := range w.implied {
		if !a.yielded || a.kind == history.Write || !c.dead {
			return true
		}
	}
	return false
}

// act notes a call that only a holder makes.
func (x *exclusion) act(h *hold, f *fact) {
	w := &h.windows[x.index]
	if h.returned || h.refused() || w.begun && !w.tentative {
		return
	}
	if f.Kind == history.Extend { // returns belong to the later extension from now on
		x.drop(w, w.actOf(f.Kind, f.Value))
	}
	a := &impliedGrant{kind: f.Kind, value: f.Value, at: x.now}
	w.implied = append(w.implied, a)
	x.events = append(x.events, windowEvent{hold: h, implied: a})
	if !w.begun {
		w.begun, w.tentative, w.call = true, true, h.acquire.at
	}
	x.decide(h)
}

// succeed notes that a call of the hold has succeeded.
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
		a.succeeded = true
	} else if !w.begun {
		x.begin(h, h.acquire.at)
	}
	x.decide(h)
}

// fail notes that a call of the hold has failed.
func (x *exclusion) fail(h *hold, kind history.Kind, value int64) {
	w := &h.windows[x.index]
	x.drop(w, w.actOf(kind, value))
	x.decide(h)
}

// drop removes a call, unless it has succeeded.
func (x *exclusion) drop(w *window, a *impliedGrant) {
	if a != nil && !a.succeeded {
		a.void = true
		w.implied = remove(w.implied, a)
	}
}

// candidate returns the first call that may begin the window, or nil. In one instant, a call
// that has succeeded goes first.
func (w *window) candidate() (first *impliedGrant) {
	for _, a := range w.implied {
		if !a.yielded && (first == nil || a.at == first.at && a.succeeded) {
			first = a
		}
	}
	return first
}

// decide determines with which call the window begins, if that is certain now, and judges
// the events that waited for it.
func (x *exclusion) decide(h *hold) {
	w := &h.windows[x.index]
	first := w.candidate()
	if w.tentative && first != nil {
		w.from = first.at
	}
	if first == nil || first.succeeded {
		w.begun = w.begun && !w.tentative || first != nil
		w.tentative = false
		x.begun(w, first)
	}
	x.drain(x.line(h))
}

// begun notes that the window begins with this call and no other.
func (x *exclusion) begun(w *window, first *impliedGrant) {
	for i := len(w.implied) - 1; i >= 0; i-- {
		switch a := w.implied[i]; {
		case a == first:
			a.begins = true
			w.implied = cut(w.implied, i)
		case !a.yielded:
			a.void = true
			w.implied = cut(w.implied, i)
		}
	}
}

// forget removes all calls of the hold, because its try has returned.
func (x *exclusion) forget(h *hold) {
	w := &h.windows[x.index]
	for _, a := range w.implied {
		a.void = true
	}
	w.implied = nil
	x.decide(h)
}

// yield skips the event of a call, so that those behind it can be judged.
func (x *exclusion) yield(h *hold, a *impliedGrant) {
	a.yielded, a.void = true, true
	x.decide(h)
	if h.over || h.client.dead {
		x.state.settling = append(x.state.settling, h)
	}
}

// confirmTooLate notes that a call succeeded whose event was skipped. An overlap may have
// been missed.
func (x *exclusion) confirmTooLate(h *hold, a *impliedGrant) {
	w := &h.windows[x.index]
	w.implied = remove(w.implied, a)
	if x.doubt != nil {
		return
	}
	e := Event{Role: RoleUnseen, From: a.at, To: x.now, Client: h.client.number, Resource: h.resource.name, Token: h.token}
	f := because(Unknown, e.say("client %d acted at %s as the holder of %s, its acquire not having returned, but that the act (%s) came to something was told only at %s, with more than %d begins and ends of other %ss in between: whether it overlapped one of those is not known",
		e.Client, at(a.at), lockOf(e.Resource, e.Token), a.kind, at(x.now), maxWaiting, x.window))
	f.Where = &Place{Resource: e.Resource, From: a.at, To: x.now}
	x.doubt = &f
}

// giveUp removes the calls that never returned.
func (x *exclusion) giveUp() {
	for _, c := range x.state.clients {
		for _, h := range c.holds {
			w := &h.windows[x.index]
			if len(w.implied) == 0 {
				continue
			}
			for i := len(w.implied) - 1; i >= 0; i-- {
				x.drop(w, w.implied[i])
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
