package explore

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/lockstorm/lockstorm/internal/sim"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// Bounds say which runs of a scenario there are.
type Bounds struct {
	// Latencies is the number of latencies of a message, evenly spaced over the scenario's range:
	// with 2, the shortest and the longest.
	Latencies int `json:"latencies"`

	// Draws is the number of values, evenly spaced over a range of the scenario, that a client can
	// draw from it beside a random one, such as the time of its work: with 2, the shortest and the
	// longest.
	Draws int `json:"draws"`

	// Deviations is the largest number of points of a run at which another way is taken than the
	// first: a longer latency, a number that is not random, or a later event before an earlier one.
	// Negative: no limit.
	Deviations int `json:"deviations"`

	// Faults is the largest number of faults of the scenario's plan in a run.
	Faults int `json:"faults"`

	// Tick, unless 0, lets a fault whose start is a time begin at any multiple of it before the
	// horizon instead. A fault that begins at a step of a client begins there.
	Tick time.Duration `json:"tick_ns"`
}

// The defaults.
const (
	DefaultLatencies  = 2
	DefaultDraws      = 2
	DefaultDeviations = 1
)

// Validate returns an error for the first bound that is out of range.
func (b Bounds) Validate() error {
	switch {
	case b.Latencies < 1 || b.Latencies > maxWays:
		return fmt.Errorf("%d latencies: want 1 to %d", b.Latencies, maxWays)
	case b.Draws < 0 || b.Draws > maxWays:
		return fmt.Errorf("%d draws: want 0 to %d", b.Draws, maxWays)
	case b.Faults < 0:
		return fmt.Errorf("%d faults: want 0 or more", b.Faults)
	case b.Tick < 0:
		return fmt.Errorf("a tick of %v: want 0s or more", b.Tick)
	}
	return nil
}

// maxWays is the largest number of ways at a point.
const maxWays = 64

// maxPlans is the largest number of plans of one exploration.
const maxPlans = 100_000

// errPlans is the error of an exploration of too many plans.
var errPlans = errors.New("too many plans: fewer faults, a longer tick or a shorter horizon make fewer")

// picked is a fault of a scenario's plan that a run has.
type picked struct {
	number int           // in the scenario's plan, from 0
	at     time.Duration // its start; negative: as in the scenario
}

// plans returns the choices of faults for the runs: none first, then those of one fault, and so
// on. Faults that overlap on one target are left out.
func (b Bounds) plans(s scenarios.Scenario) ([][]picked, error) {
	all, last := [][]picked{nil}, [][]picked{nil}
	for range min(b.Faults, len(s.Plan)) {
		var next [][]picked
		for _, chosen := range last {
			first := 0
			if n := len(chosen); n > 0 {
				first = chosen[n-1].number + 1
			}
			for number := first; number < len(s.Plan); number++ {
				for _, at := range b.starts(s.Plan[number].Start, s.Horizon) {
					next = append(next, append(slices.Clip(chosen), picked{number, at}))
				}
				if len(all)+len(next) > maxPlans {
					return nil, fmt.Errorf("%w (more than %d)", errPlans, maxPlans)
				}
			}
		}
		for _, chosen := range next {
			if with, err := picking(s, chosen); err == nil && with.World().Validate() == nil {
				all = append(all, chosen)
			}
		}
		last = next
	}
	return all, nil
}

// starts lists the starts of a fault.
func (b Bounds) starts(given nemesis.Trigger, horizon time.Duration) []time.Duration {
	if given.Client != 0 || b.Tick == 0 {
		return []time.Duration{-1}
	}
	var all []time.Duration
	for at := time.Duration(0); at < horizon && len(all) <= maxPlans; at += b.Tick {
		all = append(all, at)
	}
	return all
}

// picking returns the scenario with chosen faults of its plan, as it is explored: every request
// travels by itself, and nothing is expected.
func picking(s scenarios.Scenario, chosen []picked) (scenarios.Scenario, error) {
	var plan nemesis.Plan
	for _, c := range chosen {
		if c.number < 0 || c.number >= len(s.Plan) {
			return s, fmt.Errorf("fault %d of a plan of %d", c.number+1, len(s.Plan))
		}
		f := s.Plan[c.number]
		if c.at >= 0 {
			f.Start = nemesis.At(c.at)
		}
		plan = append(plan, f)
	}
	s.Plan, s.Connections, s.Expect, s.Limits = plan, nemesis.Connections{}, nil, scenarios.Limits{}
	return s, nil
}

// choices returns the choices of a world with a plan.
func (b Bounds) choices(s nemesis.Setting, p nemesis.Plan) sim.Choices {
	return sim.Choices{Latencies: b.Latencies, Draws: b.Draws, EveryOrder: !independent(s, p)}
}

// independent reports whether nothing that a machine does has an effect on another at the same
// instant.
func independent(s nemesis.Setting, p nemesis.Plan) bool {
	for _, f := range p {
		if f.Start.Client != 0 || f.End != nil && f.End.Client != 0 {
			return false
		}
	}
	dependent := sim.FaultsDraw(p)
	_ = s.EachDistribution(func(d *nemesis.Distribution) error {
		dependent = dependent || d.Min == 0
		return nil
	})
	return !dependent
}

// Limits bound the effort of an exploration.
type Limits struct {
	// Executions is the largest number of runs with one plan; 0: no limit.
	Executions int

	// Events is the number of events after which no further run with one plan is made; 0: no
	// limit. The runs without deviations are always made.
	Events int

	// States is the largest number of states of one plan that are remembered. With fewer, more
	// runs are made, and none is left out. 0 means 2 million, which take about 100 MB.
	States int

	// Shard and Shards say which part of the runs is made: that with number Shard, from 0, of Shards.
	// The runs without deviations are in all of them. 0 shards mean one.
	Shard, Shards int

	// Resume is the state of an exploration of the same shard that is continued; nil: none is.
	Resume *State

	// Workers is the number of plans that are explored at a time, at least 1.
	Workers int
}

const defaultStates = 2_000_000

// ready returns the limits with their defaults.
func (l Limits) ready() Limits {
	if l.Executions == 0 {
		l.Executions = math.MaxInt
	}
	if l.Events == 0 {
		l.Events = math.MaxInt
	}
	if l.States == 0 {
		l.States = defaultStates
	}
	l.Workers, l.Shards = max(l.Workers, 1), max(l.Shards, 1)
	return l
}
