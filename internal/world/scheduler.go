package world

import (
	"maps"
	"slices"
	"sort"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/nemesis"
)

// Scheduler works out when the faults of a plan begin and end, and has its [Injector]
// begin and end them. At one instant, ends come before begins. A fault whose end comes
// before its begin does not take place. The scheduler has no clock: the world calls
// Advance at the time that Next returned, and Step whenever a client takes a step. Times
// count from the start of the run and never decrease. It is not safe for concurrent use.
type Scheduler struct {
	setting  nemesis.Setting
	injector *Injector
	due      []transition // by time, ends first, then in the order of the plan
	phases   []phase
	holders  map[string]int // by claim: the active fault, from 0
	waiting  []stepWait
	watched  uint64 // bit set of the steps in waiting
}

// transition is a begin or an end whose time is known.
type transition struct {
	at    time.Duration
	fault int // from 0
	end   bool
}

// before reports whether t is applied before u.
func (t transition) before(u transition) bool {
	switch {
	case t.at != u.at:
		return t.at < u.at
	case t.end != u.end:
		return t.end
	}
	return t.fault < u.fault
}

// stepWait is a begin or an end that waits for a client's step.
type stepWait struct {
	client int
	step   env.Step
	k      int // 0: any
	left   int // how many more times the client has to reach the step
	plus   time.Duration
	fault  int
	end    bool
}

type phase uint8

const (
	planned phase = iota
	active
	over
)

// NewScheduler returns the scheduler of the setting's plan, which must be
// valid. injector is that of the same plan.
func NewScheduler(setting nemesis.Setting, injector *Injector) *Scheduler {
	s := &Scheduler{setting: setting, injector: injector, phases: make([]phase, len(setting.Plan))}
	for i := range setting.Plan {
		f := &setting.Plan[i]
		s.schedule(f.Start, i, false)
		if _, follows := length(f); !follows && f.Ends() != nil {
			s.schedule(*f.Ends(), i, true)
		}
	}
	return s
}

func (s *Scheduler) schedule(m nemesis.Trigger, fault int, end bool) {
	if m.Timed() {
		s.push(transition{at: m.At, fault: fault, end: end})
		return
	}
	step, err := env.ParseStep(string(m.Step))
	if err != nil {
		panic("world: the plan is not valid: " + err.Error())
	}
	s.waiting = append(s.waiting, stepWait{
		client: m.Client, step: step, k: m.K, left: max(m.Count, 1), plus: m.Plus, fault: fault, end: end,
	})
	s.watched |= 1 << step
}

func (s *Scheduler) push(t transition) {
	i := sort.Search(len(s.due), func(i int) bool { return t.before(s.due[i]) })
	s.due = slices.Insert(s.due, i, t)
}

// Next returns the time of the next begin or end whose time is known.
func (s *Scheduler) Next() (time.Duration, bool) {
	if len(s.due) == 0 {
		return 0, false
	}
	return s.due[0].at, true
}

// Advance begins and ends the faults that are due at now.
func (s *Scheduler) Advance(now time.Duration) error {
	for len(s.due) > 0 && s.due[0].at <= now {
		t := s.due[0]
		s.due = s.due[1:]
		if err := s.apply(t); err != nil {
			return err
		}
	}
	return nil
}

// Step reports that a client has reached a step; k is the reply's position at
// [env.StepReply]. Faults that the step triggers without delay have begun or ended
// when Step returns.
func (s *Scheduler) Step(now time.Duration, client int, step env.Step, k int) error {
	if s.watched&(1<<step) == 0 {
		return nil
	}
	for i := range s.waiting {
		w := &s.waiting[i]
		if w.left == 0 || w.client != client || w.step != step || w.k != 0 && w.k != k {
			continue
		}
		w.left--
		if w.left == 0 {
			s.push(transition{at: now + w.plus, fault: w.fault, end: w.end})
		}
	}
	return s.Advance(now)
}

// Over ends the fault of that number, which the world itself has ended before its planned
// end: heal takes back what is left of it.
func (s *Scheduler) Over(number int, heal func()) {
	s.release(number - 1)
	s.injector.Finish(number, heal)
}

// length returns how long a fault lasts, if the time of its end follows from that of its
// begin: the end is given as a length, or is the same instant.
func length(f *nemesis.Fault) (lasts time.Duration, follows bool) {
	end := f.Ends()
	switch {
	case end == nil:
		return 0, false
	case end.After != nil:
		return *end.After, true
	}
	return 0, end.Timed() && f.Start.Timed() && end.At == f.Start.At
}

func (s *Scheduler) apply(t transition) error {
	f, number := &s.setting.Plan[t.fault], t.fault+1
	was := s.phases[t.fault]
	switch {
	case t.end && was == active:
		s.release(t.fault)
		return s.injector.End(number)
	case t.end || was == over:
		s.phases[t.fault] = over
		return nil
	}
	claims := f.Claims(s.setting)
	if err := s.taken(t.fault, claims); err != nil {
		return err
	}
	s.phases[t.fault] = active
	if f.Momentary() {
		s.phases[t.fault] = over
	} else {
		s.take(t.fault, claims)
	}
	if err := s.injector.Begin(number); err != nil {
		return err
	}
	if lasts, follows := length(f); follows {
		// The length counts from when the start was due: if the world is late,
		// consecutive faults must not overlap.
		s.push(transition{at: t.at + lasts, fault: t.fault, end: true})
	}
	return nil
}

// take notes that a fault that begins holds what it claims.
func (s *Scheduler) take(fault int, claims []string) {
	if s.holders == nil {
		s.holders = make(map[string]int, len(claims))
	}
	for _, target := range claims {
		s.holders[target] = fault
	}
}

// release notes that a fault is over, and holds nothing any more.
func (s *Scheduler) release(fault int) {
	s.phases[fault] = over
	maps.DeleteFunc(s.holders, func(_ string, holder int) bool { return holder == fault })
}

// taken returns a [nemesis.OverlapError] if a fault that begins has a claim that an active one has.
func (s *Scheduler) taken(fault int, claims []string) error {
	plan := s.setting.Plan
	holder, held := len(plan), ""
	for _, target := range claims {
		if i, taken := s.holders[target]; taken && i < holder {
			holder, held = i, target
		}
	}
	if held == "" {
		return nil
	}
	return &nemesis.OverlapError{Fault: fault + 1, Holder: holder + 1, Target: held, Running: plan[fault].Action}
}
