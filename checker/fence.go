package checker

import (
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/timeline"
)

// Fence says that fencing tokens grow from hold to hold.
const Fence Property = "fence"

// fences judges whether fences grow. The fence of hold g is below that of hold h if
//   - the grant of g returned before acquire of h was called;
//   - the window of g ended before that of h began, and the latter is not empty. An empty window ends
//     when its grant returns;
//   - the window of h is empty, and g was granted before it ended: h was granted at a point from its
//     end to the return (see [exclusion]).
//
// Grants without a fence are not judged, nor those of holds that are shared: who shares a resource writes nothing,
// so that a fence need not tell it from the others.
type fences struct {
	timeline *timeline.Timeline
	floors   timeline.PerHold[floor]
	marks    timeline.PerResource[fenceMarks]
	granted  []*timeline.Hold // in this instant, with a fence
	ended    []*timeline.Hold // holds whose window may have ended in this instant

	judged   int
	breaches violations
}

// floor is what a hold's fence has to exceed.
type floor struct {
	mark               // as of its call
	late  bool         // its grant returned after its end
	ended history.Time // then
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
	returned mark   // of holds that have returned
	ended    mark   // of holds whose windows have ended
	past     []mark // returned, as it was: the last maxMarks
}

// maxMarks bounds the marks that are kept for grants whose validity was over when they returned. An
// older one than those is compared with the fences before its call.
const maxMarks = 64

// raiseReturned notes the fence of a hold that has returned.
func (m *fenceMarks) raiseReturned(h *timeline.Hold) {
	if h.Fence <= m.returned.fence {
		return
	}
	m.returned.raise(h, h.Fence)
	if len(m.past) == maxMarks {
		m.past = timeline.Cut(m.past, 0)
	}
	m.past = append(m.past, m.returned)
}

// before returns the highest fence of the holds that were granted before an instant, or less.
func (m *fenceMarks) before(t history.Time) (highest mark) {
	for _, v := range m.past {
		if v.at < t {
			highest = v
		}
	}
	return highest
}

func (m *mark) raise(h *timeline.Hold, fence uint64) {
	if fence > m.fence {
		*m = mark{fence: fence, client: h.Client.Number, token: h.Token, at: h.GrantedAt}
	}
}

func newFences(line *timeline.Timeline, s *shared) propertyChecker {
	return &fences{timeline: line}
}

func (*fences) Wants() timeline.Kinds {
	return timeline.KindSet(history.Acquire, history.Granted, history.Release, history.Lost, history.Lapse)
}

func (fs *fences) Observe(f *timeline.Fact) {
	h := f.Hold
	if h == nil || h.Granted && h.Weight < fs.timeline.Header.Permits() {
		return
	}
	switch f.Kind {
	case history.Acquire:
		if m := &fs.marks.Of(h.Resource).returned; m.fence != 0 {
			fs.floors.Of(h).mark = *m
		}
	case history.Granted:
		if f.Fence != 0 {
			fs.granted, fs.ended = append(fs.granted, h), append(fs.ended, h)       // its window may be empty
			if w := &h.Windows[timeline.LeaseWindow]; w.Empty() && w.End < f.Time { // an extension in this instant may begin it anew
				late := fs.floors.Of(h)
				late.late, late.ended = true, w.End
			}
		}
	case history.Release, history.Lost, history.Lapse:
		if h.Fence != 0 {
			fs.ended = append(fs.ended, h)
		}
	}
}

func (fs *fences) judge(h *timeline.Hold) {
	fs.judged++
	floor, m := *fs.floors.Of(h), fs.marks.Of(h.Resource)
	before, when := floor.mark, "which called acquire after that"
	if w := &h.Windows[timeline.LeaseWindow]; !floor.late && w.Empty() {
		floor.late, floor.ended = true, w.End
	}
	if floor.late {
		if granted := m.before(floor.ended); granted.fence > before.fence {
			before, when = granted, "whose hold ended after that and before its grant returned"
		}
	} else if m.ended.fence > before.fence {
		before, when = m.ended, "which came after that hold had ended"
	}
	if h.Fence > before.fence {
		return
	}
	fs.breaches.add(func() Finding { return fs.tell(before, h, when) })
}

// tell describes two grants whose fences do not grow.
func (fs *fences) tell(before mark, h *timeline.Hold, when string) Finding {
	faults, resource := fs.timeline.Faults.Between(before.at, h.GrantedAt), h.Resource.Name
	events := eventsOf(faults, before.at, false)
	first := Event{Role: RoleAccess, From: before.at, Client: before.client, Resource: resource, Token: before.token}
	events = append(events, first.say("client %d was granted %s at %s with the fence %d", before.client, lockOf(resource, before.token), at(before.at), before.fence))
	events = append(events, eventsOf(faults, before.at, true)...)
	later := Event{Role: RoleOverlap, From: h.GrantedAt, Client: h.Client.Number, Resource: resource, Token: h.Token}
	events = append(events, later.say("client %d, %s, was granted it (token %s) at %s with the fence %d", h.Client.Number, when, short(h.Token), at(h.GrantedAt), h.Fence))
	return Finding{Events: events, Causes: fs.causes(before, h), Where: &Place{Resource: resource, From: before.at, To: h.GrantedAt}}
}

func (fs *fences) causes(before mark, h *timeline.Hold) []Cause {
	if fs.timeline.Header.Keepers < 0 {
		if v := fs.timeline.ForgetfulLeader; v.Node != 0 && v.At >= before.at && v.At <= h.GrantedAt {
			return broken(StoreKeeps, tellLeader(v))
		}
		if e := h.KeyHistory().Entry; e.Gone {
			return unbroken(entryLost(e, h.Client.Number, "; the lock granted it all the same"))
		}
	} else if v := fs.timeline.LastEmptied; v.Node != 0 && v.At >= before.at && v.At <= h.GrantedAt {
		empty := Event{Role: RoleLoss, From: v.At, Nodes: oneNode(v.Node)}
		return broken(KeepsAcknowledged, empty.say("node %d came back %s at %s, and without the counter that it had", v.Node, v.How, at(v.At)))
	}
	return unbroken(Event{Role: RoleAccess, Text: "no node is seen to have lost its state in between; the lock itself drew both fences"})
}

func (*fences) Settles() timeline.Kinds {
	return timeline.KindSet(history.Granted, history.Release, history.Lost, history.Lapse)
}

// Settle raises the marks after the instant: "before" means in an earlier instant.
func (fs *fences) Settle() {
	for _, h := range fs.granted {
		fs.judge(h)
	}
	for _, h := range fs.granted {
		fs.marks.Of(h.Resource).raiseReturned(h)
	}
	for _, h := range fs.ended {
		if w := &h.Windows[timeline.LeaseWindow]; w.Begun && w.Over {
			fs.marks.Of(h.Resource).ended.raise(h, h.Fence)
		}
	}
	fs.granted, fs.ended = fs.granted[:0], fs.ended[:0]
}

func (fs *fences) finding(history.Time) Finding {
	switch {
	case fs.breaches.count > 0:
		return fs.breaches.violated()
	case fs.judged == 0:
		return notExercised(NotApplicable, "no grant bears a fence")
	}
	return because(Holds, Event{Role: RoleAccess}.say("%s, each above those before it", counted(fs.judged, "fence")))
}
