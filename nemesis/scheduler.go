package nemesis

import (
	"fmt"
	"sort"
	"time"

	"github.com/lockstorm/lockstorm/env"
)

// Target carries faults out on a world. number is the fault's place in the
// plan, from 1.
type Target interface {
	Begin(number int) error
	End(number int) error
}

// Scheduler works out when the faults of a plan begin and end, and tells a
// target. At one instant what ends goes before what begins. A fault whose end
// comes before its begin does not take place. The scheduler has no clock: the
// world calls Advance when the instant Next has come, and Step whenever a
// client takes a step, with times that count from the begin of the run and
// never go back. It is not safe for concurrent use.
type Scheduler struct {
	setting Setting
	target  Target
	due     []transition // by time, ends first, then in the order of planning
	phases  []phase
	waiting []stepWait
	watched uint64 // the steps that some trigger waits for, as bits
}

// turn is one begin or end whose time is known.
type transition struct {
	at    time.Duration
	fault int // from 0
	end   bool
}

// before is the order in which turns are taken.
func (t transition) before(u transition) bool {
	switch {
	case t.at != u.at:
		return t.at < u.at
	case t.end != u.end:
		return t.end
	}
	return t.fault < u.fault
}

// trigger is one begin or end that waits for a client's step.
type stepWait struct {
	client int
	step   env.Step
	k      int // 0: any
	left   int // times that the client has still to come there
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
		if end := f.end(); end != nil && !f.endsWithBegin() {
			c.schedule(*end, i, true)
		}
	}
	return c
}

func (c *Scheduler) schedule(m Trigger, fault int, end bool) {
	if m.timed() {
		c.push(transition{at: m.At, fault: fault, end: end})
		return
	}
	step, err := env.ParseStep(string(m.Step))
	if err != nil {
		panic("nemesis: the plan is not valid: " + err.Error())
	}
	c.waiting = append(c.waiting, stepWait{
		client: m.Client, step: step, k: m.K, left: max(m.Count, 1), plus: m.Plus, fault: fault, end: end,
	})
	c.watched |= 1 << step
}

func (c *Scheduler) push(t transition) {
	i := sort.Search(len(c.due), func(i int) bool { return t.before(c.due[i]) })
	c.due = append(c.due, transition{})
	copy(c.due[i+1:], c.due[i:])
	c.due[i] = t
}

// Next returns the time of the next begin or end that is known.
func (c *Scheduler) Next() (time.Duration, bool) {
	if len(c.due) == 0 {
		return 0, false
	}
	return c.due[0].at, true
}

// Advance begins and ends what is due at now.
func (c *Scheduler) Advance(now time.Duration) error {
	for len(c.due) > 0 && c.due[0].at <= now {
		t := c.due[0]
		c.due = c.due[1:]
		if err := c.apply(t); err != nil {
			return err
		}
	}
	return nil
}

// Step tells that a client has reached a step; k is the reply's position at
// [env.StepReply]. What the step triggers without delay has begun or ended
// when Step returns.
func (c *Scheduler) Step(now time.Duration, client int, step env.Step, k int) error {
	if c.watched&(1<<step) == 0 {
		return nil
	}
	for i := range c.waiting {
		w := &c.waiting[i]
		if w.left == 0 || w.client != client || w.step != step || w.k != 0 && w.k != k {
			continue
		}
		w.left--
		if w.left == 0 {
			c.push(transition{at: now + w.plus, fault: w.fault, end: w.end})
		}
	}
	return c.Advance(now)
}

// end is when the fault ends, as planned or by itself; nil: never.
func (f *Fault) end() *Trigger {
	if lasts := f.Action.ending().after; lasts > 0 {
		return After(lasts)
	}
	return f.End
}

// ForGood reports whether nothing ends the fault.
func (f *Fault) ForGood() bool { return f.end() == nil && f.Action.ending().automatic == "" }

// Momentary reports whether the fault is over as soon as it has begun.
func (f *Fault) Momentary() bool { return f.Action.ending().forbidden != "" && f.end() == nil }

// endsWithBegin reports whether the time of the fault's end is known from that
// of its begin: it is given as a length, or is the same instant.
func (f *Fault) endsWithBegin() bool {
	end := f.end()
	return end != nil && (end.After != nil || end.timed() && f.Start.timed() && end.At == f.Start.At)
}

// length is how long a fault lasts whose end is known from its begin.
func (f *Fault) length() time.Duration {
	if end := f.end(); end.After != nil {
		return *end.After
	}
	return 0
}

func (c *Scheduler) apply(t transition) error {
	f, number := &c.setting.Plan[t.fault], t.fault+1
	was := c.phases[t.fault]
	switch {
	case t.end && was == active:
		c.phases[t.fault] = over
		return c.target.End(number)
	case t.end || was == over:
		c.phases[t.fault] = over
		return nil
	}
	for i := range c.setting.Plan {
		if c.phases[i] != active {
			continue
		}
		if target := conflict(&c.setting.Plan[i], f, c.setting); target != "" {
			return fmt.Errorf("fault %d (%v) begins while fault %d still holds %s", number, f.Action, i+1, target)
		}
	}
	c.phases[t.fault] = active
	if f.Momentary() {
		c.phases[t.fault] = over
	}
	if err := c.target.Begin(number); err != nil {
		return err
	}
	if f.endsWithBegin() {
		// From when it was due: if the world is late, faults that are planned
		// one after another must not come to overlap.
		c.push(transition{at: t.at + f.length(), fault: t.fault, end: true})
	}
	return nil
}
