package shrink

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// Shows runs a scenario with a seed and reports whether it still shows what it is shrunk for.
// A scenario that cannot be run (a [nemesis.FieldError]) does not show it. Any other error
// ends the shrinking.
type Shows func(ctx context.Context, s scenarios.Scenario, seed uint64) (bool, error)

// Shrinker has the limits of a reduction. The zero value has none.
type Shrinker struct {
	// Events is how many events its runs, and the making of candidates, may cost; 0: no limit.
	// Unlike a time limit it ends at the same candidate on every machine.
	Events int

	// Spent returns how many events the runs have had so far; nil: they are not counted.
	Spent func() int

	// LeastNodes is the smallest number of nodes; 0 means 1. A lock on many nodes that fails
	// with one node is rarely of interest.
	LeastNodes int

	// PlanOnly removes faults from the plan and changes nothing else, with the given seed. It is
	// for runs that do not repeat exactly: Shows may then make a run several times.
	PlanOnly bool

	// Progress, unless nil, is called with every smaller scenario that is kept.
	Progress func(Reduced)
}

// Reduced is a scenario that was reduced.
type Reduced struct {
	Scenario scenarios.Scenario
	Seed     uint64   // with which it shows the same
	Seeds    []uint64 // all seeds with which it is known to show the same
	Runs     int      // number of runs made

	// Unfinished says why smaller scenarios were left untried, as in "time limit". It is empty
	// if nothing makes this one smaller.
	Unfinished string
}

// reduction is the state of a reduction.
type reduction struct {
	Shrinker
	ctx      context.Context
	shows    Shows
	best     scenarios.Scenario
	size     Size     // of best
	disjoint bool     // no two faults of the first scenario can hold the same target
	seeds    []uint64 // with which best shows it; a replacement has to show it with all
	runs     int

	// otherSeeds says that a smaller scenario need not show it with the seeds of the best, but with as
	// many: without a fault or a client, others draw other random numbers, so that the same seeds mean
	// little. It comes last, because seeds that stay the same lead to the same story more often.
	otherSeeds bool

	made int // cost of making candidates, in events
	err  error
}

// try keeps a scenario if it is smaller and still shows the same.
func (k *reduction) try(s scenarios.Scenario) bool {
	k.made += 1 + len(s.Clients) + len(s.Plan)
	if k.exhausted() {
		return false
	}
	size := SizeOf(s)
	if !size.Less(k.size) || !k.possible(s) {
		return false
	}
	seeds, shows := k.seedsShowing(s)
	if !shows {
		return false
	}
	k.best, k.size, k.seeds = s, size, seeds
	if k.Progress != nil {
		k.Progress(k.result())
	}
	return true
}

// possible reports whether a scenario can be run. Two faults that hold the same target would
// end the run with an error.
func (k *reduction) possible(s scenarios.Scenario) bool {
	return s.Validate() == nil && (!k.disjoint || disjoint(s))
}

// disjoint reports whether no two faults of a scenario can hold the same target.
func disjoint(s scenarios.Scenario) bool {
	world := s.World()
	return world.Plan.Disjoint(world)
}

// runShows makes a run.
func (k *reduction) runShows(s scenarios.Scenario, seed uint64) bool {
	if k.exhausted() {
		return false
	}
	k.runs++
	still, err := k.shows(k.ctx, s, seed)
	var impossible *nemesis.FieldError
	if err != nil && !errors.As(err, &impossible) {
		k.err = err
	}
	return still && err == nil
}

func (k *reduction) result() Reduced {
	return Reduced{Scenario: k.best, Seed: k.seeds[0], Seeds: k.seeds, Runs: k.runs, Unfinished: k.reason()}
}

// seedCount is with how many seeds, from 1 on, a scenario should show the same. Then it does
// not depend on the chance of a delay.
const seedCount = 5

// updateSeeds finds out with which of the first seeds the scenario shows the same. Every
// further scenario has to show it with all of them. A random seed is dropped when there is a
// small one.
func (k *reduction) updateSeeds() {
	if k.PlanOnly {
		return
	}
	for seed := uint64(1); seed <= seedCount; seed++ {
		if !slices.Contains(k.seeds, seed) && k.runShows(k.best, seed) {
			k.seeds = append(k.seeds, seed)
		}
	}
	if len(k.seeds) > 1 && k.seeds[0] > seedCount {
		k.seeds = k.seeds[1:]
	}
	slices.Sort(k.seeds)
}

// seedsShowing returns the seeds with which a scenario shows the same as the best: all of
// those. If the best has a single seed it depends on chance already, so another of the first seeds
// will do. With otherSeeds, as many of them will.
func (k *reduction) seedsShowing(s scenarios.Scenario) (seeds []uint64, shows bool) {
	failed := slices.ContainsFunc(k.seeds, func(seed uint64) bool { return !k.runShows(s, seed) })
	if !failed {
		return k.seeds, true
	}
	if k.PlanOnly || len(k.seeds) > 1 && !k.otherSeeds {
		return nil, false
	}
	need := min(len(k.seeds), seedCount)
	for seed := uint64(1); seed <= seedCount && len(seeds) < need && len(seeds)+int(seedCount-seed)+1 >= need; seed++ {
		if k.runShows(s, seed) {
			seeds = append(seeds, seed)
		}
	}
	return seeds, len(seeds) >= need
}

// exhausted reports whether nothing more may be tried. It records the end of ctx.
func (k *reduction) exhausted() bool {
	if k.err == nil {
		k.err = k.ctx.Err()
	}
	return k.err != nil || k.Events > 0 && k.spent() >= k.Events
}

// spent returns how many events the reduction has cost: those of its runs, and the cost of
// making candidates. Most candidates are never run, and making one with thousands of clients
// costs more than a run of two clients.
func (k *reduction) spent() int {
	spent := k.made
	if k.Spent != nil {
		spent += k.Spent()
	}
	return spent
}

// untilExhausted yields candidates until nothing more may be tried.
func (k *reduction) untilExhausted(list iter.Seq[[]int]) iter.Seq[[]int] {
	return func(yield func([]int) bool) {
		for one := range list {
			if k.exhausted() || !yield(one) {
				return
			}
		}
	}
}

// reason says why the reduction ended early, or returns "".
func (k *reduction) reason() string {
	switch {
	case errors.Is(k.err, context.DeadlineExceeded):
		return "time limit"
	case k.err != nil:
		return "stopped"
	case k.Events > 0 && k.spent() >= k.Events:
		return fmt.Sprintf("limit of %d events", k.Events)
	}
	return ""
}
