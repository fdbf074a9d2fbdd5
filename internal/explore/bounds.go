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

	// Draws is the same of the numbers that clients draw from the scenario's ranges, such as the
	// time of their work.
	Draws int `json:"draws"`

	// Deviations is the largest number of points of a run at which another way is taken than the
	// first: a longer latency, a larger number, or a later event before an earlier one. Negative: no
	// limit.
	Deviations int `json:"deviations"`

	// Faults is the largest number of faults of the scenario's plan in a run. A fault whose start
	// is a time begins at any multiple of Tick before the horizon instead; one that begins at a
	// step of a client begins there.
	Faults int           `json:"faults"`
	Tick   time.Duration `json:"tick_ns"`
}

// The defaults.
const (
	DefaultLatencies  = 2
	DefaultDraws      = 2
	DefaultDeviations = 2
	DefaultFaults     = 1
)

// Validate returns an error for the first bound that is out of range.
func (b Bounds) Validate() error {
	switch {
	case b.Latencies < 1 || b.Latencies > maxWays:
		return fmt.Errorf("%d latencies: want 1 to %d", b.Latencies, maxWays)
	case b.Draws < 1 || b.Draws > maxWays:
		return fmt.Errorf("%d draws: want 1 to %d", b.Draws, maxWays)
	case b.Faults < 0:
		return fmt.Errorf("%d faults: want 0 or more", b.Faults)
	case b.Tick <= 0:
		return fmt.Errorf("a tick of %v: want more than 0s", b.Tick)
	}
	return nil
}

// maxWays is the largest number of ways at a point.
const maxWays = 64

// maxPlans is the largest number of plans of one exploration.
const maxPlans = 100_000

// errPlans is the error of an exploration of too many plans.
var errPlans = errors.New("too many plans: fewer faults, a longer tick or a shorter horizon make fewer")

// plans returns the plans of the runs: the empty one first, then those with one fault, and so on.
// Plans whose faults overlap on one target are left out.
func (b Bounds) plans(s scenarios.Scenario) ([]nemesis.Plan, error) {
	all, last := []nemesis.Plan{nil}, []choice{{}}
	for range min(b.Faults, len(s.Plan)) {
		var next []choice
		for _, c := range last {
			for i := c.next; i < len(s.Plan); i++ {
				for _, start := range b.starts(s.Plan[i].Start, s.Horizon) {
					f := s.Plan[i]
					f.Start = start
					next = append(next, choice{append(slices.Clip(c.plan), f), i + 1})
				}
			}
			if len(all)+len(next) > maxPlans {
				return nil, fmt.Errorf("%w (more than %d)", errPlans, maxPlans)
			}
		}
		for _, c := range next {
			if with := s; true {
				with.Plan = c.plan
				if with.World().Validate() == nil {
					all = append(all, c.plan)
				}
			}
		}
		last = next
	}
	return all, nil
}

// choice is a plan, and the first fault of the scenario that may be added to it.
type choice struct {
	plan nemesis.Plan
	next int
}

// starts lists the starts of a fault.
func (b Bounds) starts(given nemesis.Trigger, horizon time.Duration) []nemesis.Trigger {
	if given.Client != 0 {
		return []nemesis.Trigger{given}
	}
	var all []nemesis.Trigger
	for at := time.Duration(0); at < horizon; at += b.Tick {
		all = append(all, nemesis.At(at))
	}
	return all
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
	instant := false
	_ = s.EachDistribution(func(d *nemesis.Distribution) error {
		instant = instant || d.Min == 0
		return nil
	})
	return !instant
}

// Limits bound the effort of an exploration.
type Limits struct {
	// Executions is the largest number of runs with one plan; 0: no limit.
	Executions int

	// States is the largest number of states of one plan that are remembered. With fewer, more
	// runs are made, and none is left out. 0 means 2 million, which take about 100 MB.
	States int

	// Workers is the number of plans that are explored at a time, at least 1.
	Workers int
}

const defaultStates = 2_000_000

// ready returns the limits with their defaults.
func (l Limits) ready() Limits {
	if l.Executions == 0 {
		l.Executions = math.MaxInt
	}
	if l.States == 0 {
		l.States = defaultStates
	}
	l.Workers = max(l.Workers, 1)
	return l
}
