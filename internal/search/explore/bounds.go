package explore

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/lockstorm/lockstorm/internal/choice"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/runner/simulated"
	"github.com/lockstorm/lockstorm/internal/shard"
	"github.com/lockstorm/lockstorm/internal/sim"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// Bounds say which runs of a scenario there are.
type Bounds struct {
	// Latencies is the number of latencies of a message, evenly spaced over the scenario's range:
	// with 2, the shortest and the longest.
	Latencies int `json:"latencies"`

	// Draws is the number of values, evenly spaced over a range of the scenario, that a client, a node,
	// the store or a fault can draw from it beside a random one, such as the time of a client's work: with
	// 2, the shortest and the longest.
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

	// Kinds are those of faults that a run can have beside those of the plan: the ones that
	// [nemesis.Few] lists. Those that begin at a time do so at any multiple of a tick; without one, of
	// half of the longest TTL.
	Kinds []nemesis.Kind `json:"kinds,omitempty"`

	// Added is the largest number of such faults in a run.
	Added int `json:"added,omitempty"`
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
	case b.Added < 0:
		return fmt.Errorf("%d added faults: want 0 or more", b.Added)
	}
	return b.Known()
}

// Known returns an error for the first kind that cannot be added.
func (b Bounds) Known() error {
	for _, k := range b.Kinds {
		if !slices.Contains(nemesis.FewKinds(), k) {
			return fmt.Errorf("%q: want kinds of faults, of %v", k, nemesis.FewKinds())
		}
	}
	return nil
}

// FixedIn lists what is the same in all runs of an exploration though it is not in those of the scenario, for
// its bounds.
func FixedIn(s scenarios.Scenario) (all []string) {
	for _, r := range choice.Random {
		if r.Fixed != "" {
			all = append(all, r.Fixed)
		}
	}
	if s.Connections != (nemesis.Connections{}) {
		all = append(all, "a connection for each request")
	}
	return all
}

// maxWays is the largest number of ways at a point.
const maxWays = 64

// maxPlans is the largest number of plans of one exploration.
const maxPlans = 100_000

// errPlans is the error of an exploration of too many plans.
var errPlans = errors.New("too many plans: fewer faults, a longer tick or a shorter horizon make fewer")

// plans returns the choices of faults for the runs: none first, then those of one fault, and so
// on. Faults that overlap on one target are left out: here if their times show it, or else in the run.
func (b Bounds) plans(s scenarios.Scenario) ([][]scenarios.Pick, error) {
	offers, err := b.offers(s)
	if err != nil {
		return nil, err
	}
	all, last := [][]int{nil}, [][]int{nil} // as positions in the offers
	for range len(offers) {
		var next [][]int
		for _, chosen := range last {
			first := 0
			if n := len(chosen); n > 0 {
				first = chosen[n-1] + 1
			}
			for i := first; i < len(offers); i++ {
				if more := append(slices.Clip(chosen), i); b.allow(offers, more) && fits(s, offers, more) {
					next = append(next, more)
				}
				if len(all)+len(next) > maxPlans {
					return nil, fmt.Errorf("%w (more than %d)", errPlans, maxPlans)
				}
			}
		}
		if len(next) == 0 {
			break
		}
		all, last = append(all, next...), next
	}
	plans := make([][]scenarios.Pick, len(all))
	for i, chosen := range all {
		plans[i] = picks(offers, chosen)
	}
	return plans, nil
}

// offers lists the faults that a run can have.
func (b Bounds) offers(s scenarios.Scenario) (all []scenarios.Pick, err error) {
	for i, f := range s.Plan {
		for _, at := range starts(f.Start, b.Tick, s.Horizon) {
			all = append(all, scenarios.Pick{Number: i + 1, At: at})
		}
	}
	if b.Added == 0 {
		return all, nil
	}
	tick := cmp.Or(b.Tick, s.LongestTTL()/2, s.Horizon)
	for _, kind := range b.Kinds {
		few, err := nemesis.Few(kind, s.World(), s.LongestTTL())
		if err != nil {
			return nil, err
		}
		for i, f := range few {
			for _, at := range starts(f.Start, tick, s.Horizon) {
				all = append(all, scenarios.Pick{Kind: kind, Number: i + 1, At: at})
			}
		}
	}
	if len(all) > maxPlans {
		return nil, fmt.Errorf("%w (more than %d)", errPlans, maxPlans)
	}
	return all, nil
}

// starts lists the starts of a fault: as it is, or at every tick.
func starts(given nemesis.Trigger, tick, horizon time.Duration) (all []time.Duration) {
	if given.Client != 0 || tick == 0 {
		return []time.Duration{-1}
	}
	for at := time.Duration(0); at < horizon && len(all) <= maxPlans; at += tick {
		all = append(all, at)
	}
	return all
}

func picks(offers []scenarios.Pick, chosen []int) []scenarios.Pick {
	all := make([]scenarios.Pick, len(chosen))
	for i, offer := range chosen {
		all[i] = offers[offer]
	}
	return all
}

// allow reports whether a run may have so many faults, none of the plan twice.
func (b Bounds) allow(offers []scenarios.Pick, chosen []int) bool {
	planned, last := 0, 0
	for _, i := range chosen {
		if p := offers[i]; p.Kind == "" {
			if p.Number == last {
				return false
			}
			planned, last = planned+1, p.Number
		}
	}
	return planned <= b.Faults && len(chosen)-planned <= b.Added
}

// fits reports whether the scenario is valid with chosen faults. If not, they overlap, or the plan ends one
// of them before it begins.
func fits(s scenarios.Scenario, offers []scenarios.Pick, chosen []int) bool {
	with, err := picking(s, picks(offers, chosen))
	return err == nil && with.World().Validate() == nil
}

// picking returns the scenario with chosen faults, as it is explored.
func picking(s scenarios.Scenario, chosen []scenarios.Pick) (scenarios.Scenario, error) {
	if s.Generate != nil {
		return s, errors.New("generate: an exploration has no random faults: leave them out, or let it add faults of some kinds")
	}
	return scenarios.Part{Faults: append([]scenarios.Pick{}, chosen...)}.Of(runner.Alone(s))
}

// choices returns the choices of a world with a plan.
func (b Bounds) choices(s nemesis.Setting, p nemesis.Plan) runner.Choices {
	return runner.Choices{Grain: choice.Grain{Latencies: b.Latencies, Draws: b.Draws, EveryOrder: !independent(s, p)}}
}

// independent reports whether nothing that a machine does has an effect on another at the same
// instant.
func independent(s nemesis.Setting, p nemesis.Plan) bool {
	for _, f := range p {
		if (f.Start.Client != 0 || f.End != nil && f.End.Client != 0) && !f.OfOneClient() {
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

	// Log has the records of searches, each of the runs with one plan and up to a number of deviations.
	// Searches that it has are not made again, and those that end are added. Its shard says which plans are
	// explored. nil: nothing is kept, and all are.
	Log *shard.Log

	// Watched is called with the experiment of each plan, and returns the one to explore, such as one that
	// is watched; nil: as it is. Several are prepared at a time.
	Watched func(runner.Experiment) runner.Experiment

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
	l.Workers = max(l.Workers, 1)
	return l
}

// prepare returns the experiment with chosen faults, and the choices of its worlds.
func (b Bounds) prepare(s scenarios.Scenario, chosen []scenarios.Pick) (runner.Experiment, runner.Choices, error) {
	with, err := picking(s, chosen)
	if err != nil {
		return runner.Experiment{}, runner.Choices{}, err
	}
	e, err := runner.Prepare(simulated.Backend(), with)
	return e, b.choices(with.World(), with.Plan), err
}
