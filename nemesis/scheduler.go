package nemesis

import (
	"sort"
	"time"

	"github.com/lockstorm/lockstorm/env"
)

// Target injects faults into a world when the [Scheduler] says so. number is the
// fault's place in the plan, from 1.
type Target interface {
	Begin(number int) error
	End(number int) error
}

// Scheduler begins and ends the faults of a plan at their times. At one instant,
// ends come before begins. A fault whose end comes before its begin does not take
// place. The scheduler has no clock: the world calls Advance at the time that Next
// returned, and Step whenever a client takes a step. Times count from the start of
// the run and never decrease. It is not safe for concurrent use.
type Scheduler struct {
	setting Setting
	target  Target
	due     []transition // by time, ends first, then in the order of the plan
	phases  []phase
	holders map[string]int // by claim: the active fault, from 0
	waiting []stepWait
	watched uint64 // bit set of the steps in waiting
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
// valid.
func NewScheduler(s Setting, target Target) *Scheduler {
	c := &Scheduler{setting: s, target: target, phases: make([]phase, len(s.Plan))}
	for i := range s.Plan {
		f := &s.Plan[i]
		c.schedule(f.Start, i, false)
		if end := f.Ends(); end != nil && !f.endsWithBegin() {
			c.schedule(*end, i, true)
		}
	}
	return c
}

func (s *Scheduler) schedule(m Trigger, fault int, end bool) {
	if m.timed() {
		s.push(transition{at: m.At, fault: fault, end: end})
		return
	}
	step, err := env.ParseStep(string(m.Step))
	if err != nil {
		panic("nemesis: the plan is not valid: " + err.Error())
	}
	s.waiting = append(s.waiting, stepWait{
		client: m.Client, step: step, k: m.K, left: max(m.Count, 1), plus: m.Plus, fault: fault, end: end,
	})
	s.watched |= 1 << step
}

func (s *Scheduler) push(t transition) {
	i := sort.Search(len(s.due), func(i int) bool { return t.before(s.due[i]) })
	s.due = append(s.due, transition{})
	copy(s.due[i+1:], s.due[i:])
	s.due[i] = t
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

// Over notes that the world has ended the fault of that number, before its planned end.
func (s *Scheduler) Over(number int) { s.release(number - 1) }

// Ends returns when the fault ends, by the plan or by itself; nil means never.
func (f *Fault) Ends() *Trigger {
	if lasts := f.Action.ending().after; lasts > 0 {
		return After(lasts)
	}
	return f.End
}

// ForGood reports whether the fault never ends.
func (f *Fault) ForGood() bool { return f.Ends() == nil && f.Action.ending().automatic == "" }

// Momentary reports whether the fault is over as soon as it has begun.
func (f *Fault) Momentary() bool { return f.Action.ending().forbidden != "" && f.Ends() == nil }

// endsWithBegin reports whether the time of the fault's end follows from that of its
// begin: the end is given as a length, or is the same instant.
func (f *Fault) endsWithBegin() bool {
	end := f.Ends()
	return end != nil && (end.After != nil || end.timed() && f.Start.timed() && end.At == f.Start.At)
}

// length returns how long a fault lasts whose end follows from its begin.
func (f *Fault) length() time.Duration {
	if end := f.Ends(); end.After != nil {
		return *end.After
	}
	return 0
}

func (c *Scheduler) apply(t transition) error {
	f, number := &c.setting.Plan[t.fault], t.fault+1
	was := c.phases[t.fault]
	switch {
	case t.end && was == active:
		c.release(t.fault)
		return c.target.End(number)
	case t.end || was == over:
		c.phases[t.fault] = over
		return nil
	}
	claims := f.Action.claims(c.setting)
	if err := c.taken(t.fault, claims); err != nil {
		return err
	}
	c.phases[t.fault] = active
	if f.Momentary() {
		c.phases[t.fault] = over
	} else {
		c.take(t.fault, claims)
	}
	if err := c.target.Begin(number); err != nil {
		return err
	}
	if f.endsWithBegin() {
		// The length counts from when the start was due: if the world is late,
		// consecutive faults must not overlap.
		c.push(transition{at: t.at + f.length(), fault: t.fault, end: true})
	}
	return nil
}

// take notes that a fault that begins holds what it claims.
func (c *Scheduler) take(fault int, claims []string) {
	if c.holders == nil {
		c.holders = make(map[string]int, len(claims))
	}
	for _, target := range claims {
		c.holders[target] = fault
	}
}

// release notes that a fault is over, and holds nothing any more.
func (c *Scheduler) release(fault int) {
	c.phases[fault] = over
	for _, target := range c.setting.Plan[fault].Action.claims(c.setting) {
		if c.holders[target] == fault {
			delete(c.holders, target)
		}
	}
}

// taken returns an [OverlapError] if a fault that begins has a claim that an active one has.
func (c *Scheduler) taken(fault int, claims []string) error {
	holder, held := len(c.setting.Plan), ""
	for _, target := range claims {
		if i, taken := c.holders[target]; taken && i < holder {
			holder, held = i, target
		}
	}
	if held == "" {
		return nil
	}
	return &OverlapError{Fault: fault + 1, Holder: holder + 1, Target: held, Running: c.setting.Plan[fault].Action}
}
