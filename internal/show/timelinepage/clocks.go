package timelinepage

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/world"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// clocks computes the clock errors of a run from its plan and the times of the faults. It is a
// world that has nothing but clocks, so package world applies the faults as in every run.
type clocks struct {
	plan     nemesis.Plan // of the scenario's world
	active   map[int]bool // faults
	injector *world.Injector
	faults   *world.Clocks
	now      int64
	later    []change // in the order of their times
	changes  int      // made so far
	machines map[nemesis.Machine]*machineClocks
	reads    func(nemesis.Machine) env.Clock // the clock that is shown
	stopped  bool                            // at mostChanges
}

// mostChanges bounds the changes between faults: a fault may flip a clock every 100 µs for
// hours.
const mostChanges = 500_000

// mostSamples is the largest number of samples of a clock.
const mostSamples = 4_000

// change is a change of a clock at a later time, as part of a fault.
type change struct {
	at int64
	do func()
}

// machineClocks are the clocks of a machine, and the errors of the one that is shown.
type machineClocks struct {
	clocks  [3]world.Clock // by env.Clock
	samples []Sample
	off     bool // it was wrong at some time
}

// clockHandlers handles all faults, of which most leave clocks alone.
var clockHandlers = world.FaultHandlers[*clocks]{world.FaultHandler[*clocks, nemesis.Action]{
	Begin: func(c *clocks, f world.Injection[nemesis.Action]) error {
		if e := f.Action.Effects(nemesis.Setting{}).Clock; !e.AtEnd {
			c.faults.Begin(f.Number, e)
		}
		return nil
	},
	End: func(c *clocks, f world.Injection[nemesis.Action]) error {
		if e := f.Action.Effects(nemesis.Setting{}).Clock; e.AtEnd {
			c.faults.Begin(f.Number, e)
		} else {
			c.faults.End(f.Number, e)
		}
		return nil
	},
}}

// newClocks returns clocks without errors. It shows the clock that the lock reads on clients,
// and on nodes the clock by which keys or, for a lock without keys, sessions expire.
func newClocks(s *scenarios.Scenario, h history.Header) *clocks {
	c := &clocks{plan: s.World().Plan, active: map[int]bool{}, machines: map[nemesis.Machine]*machineClocks{}}
	c.reads = func(m nemesis.Machine) env.Clock {
		switch {
		case m.Client != 0:
			return s.Lock.ReadsClock()
		case h.Electorate().None():
			return env.Monotonic
		}
		return env.Wall
	}
	c.faults = world.NewClocks(c)
	c.injector = world.NewInjector(c, c.plan, clockHandlers, func(history.Event) {})
	return c
}

// fault begins or ends a fault of the plan.
func (c *clocks) fault(e *history.Event) {
	begins := e.Kind == history.FaultStart
	if e.Fault < 1 || e.Fault > len(c.plan) || c.active[e.Fault] == begins {
		return
	}
	c.active[e.Fault] = begins
	if c.advance(int64(e.Time)); c.stopped {
		return
	}
	if begins {
		_ = c.injector.Begin(e.Fault) // clockHandlers do not fail
	} else {
		_ = c.injector.End(e.Fault)
	}
}

// advance applies the changes that are due before a time. At one instant, faults begin and
// end before that.
func (c *clocks) advance(to int64) {
	for len(c.later) > 0 && c.later[0].at < to {
		if c.changes == mostChanges {
			c.stopped = true
			return
		}
		c.changes++
		next := c.later[0]
		c.later = c.later[1:]
		c.now = next.at
		next.do()
	}
	c.now = to
}

func (c *clocks) finish(end history.Time) {
	c.advance(int64(end))
	for m, h := range c.machines {
		h.sample(c.reads(m), c.now)
	}
}

func (c *clocks) of(m nemesis.Machine) *machineClocks {
	if c.machines[m] == nil {
		c.machines[m] = &machineClocks{samples: []Sample{{}}}
	}
	return c.machines[m]
}

// sample records the clock's error if it has changed.
func (h *machineClocks) sample(which env.Clock, now int64) {
	v := Sample{At: history.Time(now), Value: float64(h.clocks[which].At(now) - now)}
	if last := h.samples[len(h.samples)-1]; last != v {
		h.samples = append(h.samples, v)
	}
	h.off = h.off || v.Value != 0
}

// GroundTime implements [world.ClockWorld].
func (c *clocks) GroundTime() int64 { return c.now }

// Missed implements [world.ClockWorld].
func (c *clocks) Missed(m nemesis.Machine) int64 { return c.of(m).clocks[env.Wall].Behind(c.now) }

// Change implements [world.ClockWorld].
func (c *clocks) Change(m nemesis.Machine, which nemesis.ClockSet, how func(*world.Clock)) {
	h := c.of(m)
	h.sample(c.reads(m), c.now)
	for _, clock := range world.Select(which, &h.clocks[env.Wall], &h.clocks[env.Monotonic], &h.clocks[env.Boottime]) {
		how(clock)
	}
	h.sample(c.reads(m), c.now)
}

// Later implements [world.ClockWorld].
func (c *clocks) Later(at int64, do func()) {
	i, _ := slices.BinarySearchFunc(c.later, at, func(m change, at int64) int {
		if m.at <= at {
			return -1
		}
		return 1
	})
	c.later = slices.Insert(c.later, i, change{at, do})
}

// PauseClient implements [world.ClockWorld]. There is no program to pause.
func (c *clocks) PauseClient(int) {}

// ResumeClient implements [world.ClockWorld].
func (c *clocks) ResumeClient(int) {}

// numberOf numbers the lanes of machines, clients before nodes. machineOf is its inverse.
func numberOf(m nemesis.Machine) int {
	if m.Client != 0 {
		return m.Client
	}
	return history.MaxClients + m.Node
}

func machineOf(number int) nemesis.Machine {
	if number <= history.MaxClients {
		return nemesis.Machine{Client: number}
	}
	return nemesis.Machine{Node: number - history.MaxClients}
}

// laneOf returns the lane of a machine.
func laneOf(m nemesis.Machine) laneKey {
	if m.Client != 0 {
		return laneKey{Clients, m.Client}
	}
	return laneKey{Nodes, m.Node}
}

// lanes adds a lane for each clock that was ever wrong.
func (c *clocks) lanes(to laneBuilders) {
	for m, h := range c.machines {
		if !h.off {
			continue
		}
		row := to.get(laneKey{Clocks, numberOf(m)})
		row.Name = fmt.Sprintf("%v, %v clock", m, c.reads(m))
		row.Line, row.Unit = true, "ns"
		row.Samples, row.Thinned = thinned(h.samples, mostSamples), len(h.samples) > mostSamples
	}
}

// thinned reduces samples to the first, the last and the extremes of each chunk, which look
// the same as long as a chunk is narrower than a pixel.
func thinned(all []Sample, most int) []Sample {
	if len(all) <= most {
		return all
	}
	byValue := func(a, b Sample) int { return cmp.Compare(a.Value, b.Value) }
	var kept []Sample
	for part := range slices.Chunk(all, (4*len(all)+most-1)/most) {
		low, high := slices.MinFunc(part, byValue), slices.MaxFunc(part, byValue)
		if low.At > high.At {
			low, high = high, low
		}
		kept = append(kept, part[0], low, high, part[len(part)-1])
	}
	return slices.Compact(kept)
}
