package checker

import "github.com/lockstorm/lockstorm/history"

// Fence says that fencing tokens grow from hold to hold.
const Fence Property = "fence"

// fences judges whether fences grow. If the grant of hold g returned before acquire of
// hold h was called, or g's window ended before h's began and neither is empty, then
// g's fence is below h's. Grants without a fence are not judged.
type fences struct {
	state    *state
	faultLog *faultLog
	floors   perHold[mark] // the fence that a hold's fence has to exceed, as of its call
	granted  []*hold       // in this instant, with a fence
	ended    []*hold       // holds whose window may have ended in this instant

	judged   int
	breaches violations
}

// mark is the highest fence of some holds, and its hold.
type mark struct {
	fence  uint64
	client int
	token  string
	at     history.Time // of the grant
}

// fenceMarks are the fences that the next holds of a resource have to exceed.
type fenceMarks struct {
	returned mark // of holds that have returned
	ended    mark // of holds whose windows have ended
}

func (m *mark) raise(h *hold, fence uint64) {
	if fence > m.fence {
		*m = mark{fence: fence, client: h.client.number, token: h.token, at: h.granted}
	}
}

func newFences(_ history.Header, l *state, n *faultLog) propertyChecker {
	return &fences{state: l, faultLog: n}
}

func (*fences) wants() kinds {
	return kindSet(history.Acquire, history.Granted, history.Release, history.Lost, history.Lapse)
}

func (j *fences) observe(f *fact) {
	h := f.hold
	if h == nil {
		return
	}
	switch f.Kind {
	case history.Acquire:
		if m := &h.resource.fences.returned; m.fence != 0 {
			*j.floors.of(h) = *m
		}
	case history.Granted:
		if f.Fence != 0 {
			j.granted = append(j.granted, h)
		}
	case history.Release, history.Lost, history.Lapse:
		if h.fence != 0 {
			j.ended = append(j.ended, h)
		}
	}
}

func (j *fences) judge(h *hold) {
	j.judged++
	before, when := *j.floors.of(h), "called"
	if ended := h.resource.fences.ended; ended.fence > before.fence && !h.expired() {
		before, when = ended, "ended"
	}
	if h.fence > before.fence {
		return
	}
	j.breaches.add(func() Finding { return j.tell(before, h, when) })
}

// tell describes two grants whose fences do not grow.
func (j *fences) tell(before mark, h *hold, when string) Finding {
	faults, resource := j.faultLog.between(before.at, h.granted), h.resource.name
	events := statementsOf(faults, before.at, false)
	events = append(events, Statement{Kind: FencedGrant, Client: before.client, Resource: resource, Token: before.token, At: before.at, Fence: before.fence})
	events = append(events, statementsOf(faults, before.at, true)...)
	events = append(events, Statement{Kind: FencedAfter, Detail: when, Other: before.client,
		Client: h.client.number, Resource: resource, Token: h.token, At: h.granted, Fence: h.fence})
	return Finding{Events: events, Causes: j.causes(before, h), Where: &Place{Resource: resource, From: before.at, To: h.granted}}
}

func (j *fences) causes(before mark, h *hold) []Cause {
	if j.state.header.Keepers < 0 {
		if v := j.state.forgetful; v.node != 0 && v.at >= before.at && v.at <= h.granted {
			return broken(StoreKeeps, v.leads())
		}
		if e := h.history().entry; e.gone {
			return unbroken(j.faultLog, Statement{Kind: EntryGone, Client: h.client.number, At: e.at, Detail: e.reason})
		}
	} else if v := j.state.emptied; v.node != 0 && v.at >= before.at && v.at <= h.granted {
		return broken(KeepsAcknowledged, Statement{Kind: CameBackWithout, Node: v.node, At: v.at, Detail: v.how})
	}
	return unbroken(j.faultLog, Statement{Kind: LockDrewFences})
}

func (*fences) settles() kinds {
	return kindSet(history.Granted, history.Release, history.Lost, history.Lapse)
}

// settle raises the marks after the instant: "before" means in an earlier instant.
func (j *fences) settle() {
	for _, h := range j.granted {
		j.judge(h)
	}
	for _, h := range j.granted {
		h.resource.fences.returned.raise(h, h.fence)
	}
	for _, h := range j.ended {
		if w := &h.windows[leaseRule]; w.begun && w.over && w.end > w.from {
			h.resource.fences.ended.raise(h, h.fence)
		}
	}
	j.granted, j.ended = j.granted[:0], j.ended[:0]
}

func (j *fences) finding(history.Time) Finding {
	switch {
	case j.breaches.count > 0:
		return j.breaches.violated()
	case j.judged == 0:
		return because(NotApplicable, Statement{Kind: NoFence})
	}
	return because(Holds, Statement{Kind: FencesGrow, Count: j.judged})
}
