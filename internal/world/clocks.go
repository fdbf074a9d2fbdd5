package world

import (
	"slices"
	"time"

	"github.com/lockstorm/lockstorm/nemesis"
)

// Select returns the clocks of a set; more lists the clocks that only some machines have.
func Select(of nemesis.ClockSet, wall, monotonic *Clock, more ...*Clock) []*Clock {
	switch of {
	case nemesis.NoClock:
		return nil
	case nemesis.WallClock:
		return []*Clock{wall}
	case nemesis.MonotonicClock:
		return []*Clock{monotonic}
	}
	return append([]*Clock{wall, monotonic}, more...)
}

// ClockWorld is the part of a world that clock faults need.
type ClockWorld interface {
	// GroundTime returns the time in nanoseconds since the start of the run.
	GroundTime() int64

	// Missed returns how many nanoseconds the stopped wall clock of a machine has missed,
	// or 0 if the clock runs.
	Missed(m nemesis.Machine) int64

	// Change applies how to the selected clocks of a machine, and updates the timers
	// that wait for them.
	Change(m nemesis.Machine, which nemesis.ClockSet, how func(*Clock))

	// Later calls move, which changes nothing but clocks, at a ground time.
	Later(at int64, move func())

	// PauseClient pauses a client's program, and ResumeClient resumes it.
	PauseClient(client int)
	ResumeClient(client int)
}

// Clocks applies what faults do to clocks to a world.
type Clocks struct {
	world ClockWorld

	// State that the ends of faults need, by fault number.
	began   map[int]int64 // ground time
	strobes map[int]*strobe
}

// strobe is the state of a clock that steps forth and back.
type strobe struct {
	off  bool // the clock shows the wrong time
	over bool
}

// NewClocks returns the clocks of a world in which no fault has begun.
func NewClocks(work ClockWorld) *Clocks {
	return &Clocks{world: work, began: map[int]int64{}, strobes: map[int]*strobe{}}
}

// ClockFaults returns the handler of the faults that affect the clocks of clients and, with
// [nemesis.NodeClockFeature], of nodes. clocks returns the clocks of a world.
func ClockFaults[W any](clocks func(W) *Clocks, features ...nemesis.Feature) FaultHandlers[W] {
	return FaultHandlers[W]{FaultHandler[W, nemesis.ClockFault]{
		Features: append(slices.Clip(features), nemesis.ClientClockFeature),
		Begin: func(w W, f Injection[nemesis.ClockFault]) error {
			clocks(w).Begin(f.Number, f.Action.Clock())
			return nil
		},
		End: func(w W, f Injection[nemesis.ClockFault]) error {
			clocks(w).End(f.Number, f.Action.Clock())
			return nil
		},
	}}
}

// Begin applies a clock error when its fault begins.
func (k *Clocks) Begin(fault int, e nemesis.ClockError) {
	m := e.Machine
	k.began[fault] = k.world.GroundTime()
	if e.Suspends {
		k.world.PauseClient(m.Client)
	}
	if e.Stops != nemesis.NoClock {
		k.world.Change(m, e.Stops, func(c *Clock) { c.Stop(k.world.GroundTime()) })
	}
	if e.PPM != 0 {
		k.changeRate(m, e.PPM)
	}
	switch {
	case e.Every > 0:
		k.strobes[fault] = &strobe{}
		k.flip(e, k.strobes[fault])
	case e.Step != 0 && !e.Misses:
		k.jump(m, int64(e.Step))
	}
}

// End heals a clock error when its fault ends. If a node's server comes back at that end, End has to be called
// before: which of its keys have expired depends on the clock.
func (k *Clocks) End(fault int, e nemesis.ClockError) {
	m, lasted := e.Machine, k.world.GroundTime()-k.began[fault]
	var ahead int64
	if e.PPM != 0 {
		k.changeRate(m, -e.PPM)
		ahead = scale(lasted, e.PPM)
	}
	if e.Stops != nemesis.NoClock {
		ahead = -k.world.Missed(m)
		k.world.Change(m, e.Stops, func(c *Clock) { c.Start(k.world.GroundTime()) })
	}
	if e.Suspends {
		k.world.ResumeClient(m.Client)
	}
	switch s := k.strobes[fault]; {
	case s != nil:
		if s.off {
			k.jump(m, -int64(e.Step))
		}
		s.over = true
	case e.Misses:
		k.jump(m, int64(e.Step)-lasted)
	case e.Step != 0:
		ahead = int64(e.Step)
	}
	k.heal(m, e.Healing, ahead)
}

// jump steps the wall clock of a machine.
func (k *Clocks) jump(m nemesis.Machine, by int64) {
	k.world.Change(m, nemesis.WallClock, func(c *Clock) { c.Jump(k.world.GroundTime(), by) })
}

// changeRate makes all clocks of a machine run faster than before, or slower.
func (k *Clocks) changeRate(m nemesis.Machine, ppm int64) {
	k.world.Change(m, nemesis.AllClocks, func(c *Clock) { c.ChangeRate(k.world.GroundTime(), ppm) })
}

// heal removes the error that a fault has caused in a machine's wall clock, in the way
// that the fault names. ahead is the error.
func (k *Clocks) heal(m nemesis.Machine, how nemesis.Healing, ahead int64) {
	switch {
	case ahead == 0:
	case how.Heal == nemesis.HealStep:
		k.jump(m, -ahead)
	case how.Heal == nemesis.HealSlew:
		ppm := how.SlewPPM()
		lasts := nemesis.SlewTime(time.Duration(-ahead), ppm)
		if ahead > 0 {
			ppm = -ppm
		}
		k.changeRate(m, ppm)
		k.world.Later(k.world.GroundTime()+int64(lasts), func() { k.changeRate(m, -ppm) })
	}
}

// flip switches a strobe to its other time and schedules the next switch.
func (k *Clocks) flip(e nemesis.ClockError, s *strobe) {
	if s.over {
		return
	}
	by := int64(e.Step)
	if s.off {
		by = -by
	}
	s.off = !s.off
	k.jump(e.Machine, by)
	k.world.Later(k.world.GroundTime()+int64(e.Every), func() { k.flip(e, s) })
}
