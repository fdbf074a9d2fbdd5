package conform

// The fences of one resource: proof/fences.dfy. Counters are those of the nodes. A step of the lock
// (LockStep) keeps what the invariant says of draws, so it is compared after the steps of fences only.

type phase uint8

const (
	reading phase = iota
	raising
	drawn
)

// drawState is a draw of a fence. before: of the draws that had ended when it began, how many there were;
// ended: the place of its own end among those.
type drawState struct {
	round         round
	before, ended int
	phase         phase
	seen          uint64 // one bit per node
	highest, next uint64
	raised        uint64 // one bit per node
}

type fences struct {
	lock    *machine
	counter map[int]uint64
	draws   []drawState
	ended   int  // how many draws have ended
	forgot  bool // F1 is broken: nothing is said of the fences from there on
}

func newFences() *fences { return &fences{counter: map[int]uint64{}} }

func (s *fences) Counter(n int) uint64 { return s.counter[n] }

func (s *fences) IsDrawn(d int) bool { return s.draws[d].phase == drawn }

func (s *fences) OneDraw(i round) bool {
	for e := range s.draws {
		if s.lock.rounds[s.draws[e].round].try == s.lock.rounds[i].try {
			return false
		}
	}
	return true
}

func (s *fences) BeginDraw(i round) (d int, wrong []string) {
	wrong = failing(
		guard{"Holds", s.lock.Holds(i)},
		guard{"OneDraw", s.OneDraw(i)})
	s.draws = append(s.draws, drawState{round: i, before: s.ended})
	return len(s.draws) - 1, wrong
}

func (s *fences) Count(d, n int) []string {
	w := &s.draws[d]
	wrong := failing(guard{"s.draws[d].phase.Reading?", w.phase == reading})
	w.seen |= bit(n)
	w.highest = max(w.highest, s.Counter(n))
	return wrong
}

func (s *fences) Choose(d int, number uint64) []string {
	w := &s.draws[d]
	wrong := failing(
		guard{"!s.draws[d].phase.Drawn?", w.phase != drawn},
		guard{"HasQuorum", s.lock.HasQuorum(w.seen)},
		guard{"number > s.draws[d].highest", number > w.highest},
		guard{"number > s.draws[d].next", number > w.next})
	w.phase, w.next, w.raised = raising, number, 0
	return wrong
}

func (s *fences) Raise(d, n int) []string {
	w := &s.draws[d]
	wrong := failing(
		guard{"s.draws[d].phase.Raising?", w.phase == raising},
		guard{"Counter(s, n) < s.draws[d].next", s.Counter(n) < w.next})
	s.counter[n] = w.next
	w.raised |= bit(n)
	return wrong
}

func (s *fences) Change(n int, number uint64) []string {
	wrong := failing(guard{"F1", F1(s.Counter(n), number)})
	s.counter[n] = number
	return wrong
}

func (s *fences) EndDraw(d int) []string {
	w := &s.draws[d]
	wrong := failing(
		guard{"s.draws[d].phase.Raising?", w.phase == raising},
		guard{"HasQuorum", s.lock.HasQuorum(w.raised)},
		guard{"Live", s.lock.Live(w.round)})
	w.phase, w.ended = drawn, s.ended
	s.ended++
	return wrong
}

func (s *fences) Raised(d, n int) bool { return s.draws[d].raised&bit(n) != 0 }

func (s *fences) Before(d, e int) bool { return s.IsDrawn(d) && s.draws[d].ended < s.draws[e].before }

func (s *fences) Sound(d int) bool {
	w := &s.draws[d]
	return (w.phase != reading || w.raised == 0) &&
		(w.phase == reading || w.next > w.highest && s.lock.HasQuorum(w.seen)) &&
		(w.phase != drawn || s.lock.HasQuorum(w.raised))
}

func (s *fences) Kept(d int) bool {
	for n, counter := range s.counter {
		if s.Raised(d, n) && counter < s.draws[d].next {
			return false
		}
	}
	return true
}

func (s *fences) ReadsLater(d, e int) bool {
	return !s.Before(d, e) || s.draws[d].raised&s.draws[e].seen == 0 || s.draws[e].highest >= s.draws[d].next
}

func (s *fences) Once(d, e int) bool {
	return s.draws[d].raised&s.draws[e].raised == 0 || s.draws[d].next != s.draws[e].next
}

func (s *fences) Over(d int) bool { return !s.IsDrawn(d) && !s.lock.Live(s.draws[d].round) }

func (s *fences) Turn(d, e int) bool {
	return s.Before(d, e) || s.Before(e, d) || s.Over(d) || s.Over(e)
}

// V4 is the theorem.
func (s *fences) V4(d, e int) bool {
	return !s.IsDrawn(d) || !s.IsDrawn(e) ||
		s.Before(d, e) && s.draws[d].next < s.draws[e].next || s.Before(e, d) && s.draws[e].next < s.draws[d].next
}

// FencesInv returns the names of the parts of the invariant that do not hold of a draw and of any other, and
// V4 if that does not.
func (s *fences) FencesInv(d int) []string {
	all := []guard{
		{"Sound", s.Sound(d)}, {"Kept", s.Kept(d)}, {"ReadsLater", true}, {"Once", true},
		{"InTurn", s.lock.HasQuorum(s.lock.rounds[s.draws[d].round].votes)}, {"V4", true},
	}
	for e := range s.draws {
		if e != d {
			for i, holds := range []bool{s.ReadsLater(d, e) && s.ReadsLater(e, d), s.Once(d, e), s.Turn(d, e), s.V4(d, e)} {
				all[i+2].holds = all[i+2].holds && holds
			}
		}
	}
	return failing(all...)
}
