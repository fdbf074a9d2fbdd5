package timeline

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

// clocks works out what clocks have shown, from the times of the faults and from what the
// plan says that they do. It is a world that has nothing but clocks: what faults do to them
// is the business of package world, here as in every run.
type clocks struct {
	plan     int          // its length
	begun    map[int]bool // faults that have not ended
	injector *world.Injector
	faults   *world.Clocks
	now      int64
	later    []move // in the order of their times
	moves    int    // that were made
	all      map[nemesis.Machine]*hands
	reads    func(nemesis.Machine) env.Clock // which clock of a machine counts
	stopped  bool
}

// mostMoves bounds how often clocks are moved by themselves: a clock that flips every 100 µs
// for hours is not followed to its end.
const mostMoves = 500_000

type move struct {
	at int64
	do func()
}

// hands are the clocks of a machine, and how far the one that counts was ahead.
type hands struct {
	clocks  [3]world.Clock // by env.Clock
	samples []Sample
	off     bool // it was ahead, or behind, at any time
}

// carrying are all faults; those that do nothing to clocks do nothing here.
var carrying = append(
	world.ClockFaults(func(c *clocks) *world.Clocks { return c.faults }),
	world.FaultHandler[*clocks, *nemesis.VMRestore]{
		Begin: func(c *clocks, f world.Injection[*nemesis.VMRestore]) error { c.faults.BeginRestore(f); return nil },
		End:   func(c *clocks, f world.Injection[*nemesis.VMRestore]) error { c.faults.EndRestore(f); return nil },
	},
	world.FaultHandler[*clocks, nemesis.Action]{
		Begin: func(*clocks, world.Injection[nemesis.Action]) error { return nil },
	},
)

// newClocks returns true clocks. Those that count are, of clients, the one that their lock
// reads; of nodes the wall clock by which keys expire or, where the lock keeps none on them,
// the one by which sessions do.
func newClocks(s *scenarios.Scenario, h history.Header) *clocks {
	c := &clocks{plan: len(s.Plan), begun: map[int]bool{}, all: map[nemesis.Machine]*hands{}}
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
	c.injector = world.NewInjector(c, s.Plan, carrying, func(history.Event) {})
	return c
}

// fault takes the begin or the end of a fault, if the plan has it and it can begin or end.
func (c *clocks) fault(e *history.Event) {
	begins := e.Kind == history.FaultStart
	if e.Fault < 1 || e.Fault > c.plan || c.begun[e.Fault] == begins {
		return
	}
	c.begun[e.Fault] = begins
	if c.advance(int64(e.Time)); c.stopped {
		return
	}
	if begins {
		_ = c.injector.Begin(e.Fault) // nothing that it does to clocks can fail
	} else {
		_ = c.injector.End(e.Fault)
	}
}

// advance moves what clocks go on to do by themselves before a time: at one instant that
// comes after begins and ends.
func (c *clocks) advance(to int64) {
	for len(c.later) > 0 && c.later[0].at < to {
		if c.moves == mostMoves {
			c.stopped = true
			return
		}
		c.moves++
		next := c.later[0]
		c.later = c.later[1:]
		c.now = next.at
		next.do()
	}
	c.now = to
}

func (c *clocks) finish(end history.Time) {
	c.advance(int64(end))
	for m, h := range c.all {
		h.sample(c.reads(m), c.now)
	}
}

func (c *clocks) of(m nemesis.Machine) *hands {
	if c.all[m] == nil {
		c.all[m] = &hands{samples: []Sample{{}}}
	}
	return c.all[m]
}

// sample takes by how much the clock is ahead, unless that is known.
func (h *hands) sample(which env.Clock, now int64) {
	v := Sample{At: history.Time(now), Value: float64(h.clocks[which].At(now) - now)}
	if last := h.samples[len(h.samples)-1]; last != v {
		h.samples = append(h.samples, v)
	}
	h.off = h.off || v.Value != 0
}

// GroundTime implements [world.Clockwork].
func (c *clocks) GroundTime() int64 { return c.now }

// Missed implements [world.Clockwork].
func (c *clocks) Missed(m nemesis.Machine) int64 { return c.of(m).clocks[env.Wall].Behind(c.now) }

// Change implements [world.Clockwork].
func (c *clocks) Change(m nemesis.Machine, which world.ClockSelection, how func(*world.Clock)) {
	h := c.of(m)
	h.sample(c.reads(m), c.now)
	for _, clock := range which.Of(&h.clocks[env.Wall], &h.clocks[env.Monotonic], &h.clocks[env.Boottime]) {
		how(clock)
	}
	h.sample(c.reads(m), c.now)
}

// Later implements [world.Clockwork].
func (c *clocks) Later(at int64, do func()) {
	i, _ := slices.BinarySearchFunc(c.later, at, func(m move, at int64) int {
		if m.at <= at {
			return -1
		}
		return 1
	})
	c.later = slices.Insert(c.later, i, move{at, do})
}

// Halt implements [world.Clockwork]: there is no program that could stand still.
func (c *clocks) PauseClient(int) {}

// Proceed implements [world.Clockwork].
func (c *clocks) ResumeClient(int) {}

// numberOf numbers machines for their lanes, clients before nodes; machine is its inverse.
func numberOf(m nemesis.Machine) int {
	if m.Client != 0 {
		return m.Client
	}
	return history.MaxClients + m.Node
}

func machine(number int) nemesis.Machine {
	if number <= history.MaxClients {
		return nemesis.Machine{Client: number}
	}
	return nemesis.Machine{Node: number - history.MaxClients}
}

// lanes adds a lane for each clock that was ever off, but no more of clients than have one.
func (c *clocks) lanes(to rows) {
	for m, h := range c.all {
		if !h.off {
			continue
		}
		l := lane{Clocks, numberOf(m)}
		row := to.of(l)
		row.Name = fmt.Sprintf("%v, %v clock", m, c.reads(m))
		row.Line, row.Unit = true, "ns"
		row.Samples, row.Thinned = thinned(h.samples, mostSamples), len(h.samples) > mostSamples
	}
}

// thinned keeps of samples that are too many the first, the last and the extremes of each
// stretch of time: drawn, that is the same as long as a stretch is narrower than a pixel.
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
