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

// Shows runs a scenario with a seed and reports whether it still shows what it is
// shrunk for. A scenario that cannot be run, of which a [nemesis.FieldError] tells,
// does not show it; any other error ends the shrinking.
type Shows func(ctx context.Context, s scenarios.Scenario, seed uint64) (bool, error)

// Shrink returns the smallest scenario that it finds to show the same with the same
// seed. The scenario must be valid, and have a plan and no generator; if it does not
// show it in the first place it is returned as it is.
func Shrink(ctx context.Context, s scenarios.Scenario, seed uint64, shows Shows) (scenarios.Scenario, error) {
	r, err := Shrinker{KeepSeed: true}.Shrink(ctx, s, seed, shows)
	return r.Scenario, err
}

// Shrinker is how something is shrunk. The zero value tries all that there is.
type Shrinker struct {
	// Runs is how many runs it may make; 0: as many as it takes.
	Runs int

	// Events is how many events its runs, and the making of candidates, may cost; 0: as
	// many as it takes. Unlike a time it is used up at the same candidate on every machine.
	Events int

	// Spent returns how many events the runs have had by now; nil: they are not counted.
	Spent func() int

	// LeastNodes is the number of nodes below which it does not go; 0: 1. What a lock
	// on many nodes shows with one is true, and seldom what somebody wants to be told.
	LeastNodes int

	// KeepSeed makes it show the same with the seed that was given. Otherwise a small
	// one takes its place, which may be another for a smaller scenario.
	KeepSeed bool

	// Progress, unless nil, is told of every scenario that is kept.
	Progress func(Reduced)
}

// Reduced is what has become of a scenario.
type Reduced struct {
	Scenario scenarios.Scenario
	Seed     uint64   // with which it shows the same
	Seeds    []uint64 // all with which it is known to
	Runs     int      // that were made

	// Unfinished says why smaller scenarios were left untried, in a few words as in "time
	// limit"; empty: nothing makes this one smaller.
	Unfinished string
}

// Shrink makes a scenario smaller until nothing makes it smaller. It returns what it
// has come to as well when ctx ends or Shows has an error, with that error, and when
// the runs or the events are used up, which is none.
func (h Shrinker) Shrink(ctx context.Context, s scenarios.Scenario, seed uint64, shows Shows) (Reduced, error) {
	k := &shrinking{Shrinker: h, ctx: ctx, shows: shows, best: s, size: SizeOf(s), seeds: []uint64{seed}}
	k.disjoint = s.Plan.Disjoint(s.World())
	if !k.shown(s, seed) {
		return k.result(), k.err
	}
	k.settle()
	for before := (Size{}); before != k.size && !k.over(); {
		before = k.size
		for _, pass := range passes {
			pass(k)
			k.settle()
		}
	}
	return k.result(), k.err
}

// passes are what is tried, in this order, again and again until none of it helps:
// first what saves most.
var passes = []func(*shrinking){
	fewerFaults,
	fewerClients,
	fewerNodes,
	cutsInstead,
	fewerRounds,
	simplerKinds,
	simplerMoments,
	simplerValues,
	lowerNumbers,
}

// shrinking is the state of one shrinking.
type shrinking struct {
	Shrinker
	ctx      context.Context
	shows    Shows
	best     scenarios.Scenario
	size     Size     // of best
	disjoint bool     // no two faults of the first scenario could come to hold one target
	seeds    []uint64 // with which best shows it; what replaces it has to do so with all
	runs     int
	made     int // what it cost to make candidates, in events
	err      error
}

// try keeps a scenario that is smaller and still shows the same.
func (k *shrinking) try(s scenarios.Scenario) bool {
	k.made += 1 + len(s.Clients) + len(s.Plan)
	if k.over() {
		return false
	}
	size := SizeOf(s)
	if !size.Less(k.size) || !k.possible(s) {
		return false
	}
	seeds, shows := k.showing(s)
	if !shows {
		return false
	}
	k.best, k.size, k.seeds = s, size, seeds
	if k.Progress != nil {
		k.Progress(k.result())
	}
	return true
}

// possible reports whether a scenario can be run. Two faults that come to hold one
// target would end the run with an error.
func (k *shrinking) possible(s scenarios.Scenario) bool {
	return s.Validate() == nil && (!k.disjoint || s.Plan.Disjoint(s.World()))
}

// shown makes a run.
func (k *shrinking) shown(s scenarios.Scenario, seed uint64) bool {
	if k.over() {
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

func (k *shrinking) result() Reduced {
	return Reduced{Scenario: k.best, Seed: k.seeds[0], Seeds: k.seeds, Runs: k.runs, Unfinished: k.unfinished()}
}

// few is how many seeds, from 1 on, a scenario should show the same with. One that
// does so with all of them does not hang by the chance of a delay.
const few = 5

// settle looks with which of the first seeds the scenario shows the same by now. What
// has once been reached is kept: each further scenario has to show it with all of
// them. A seed that was drawn goes as soon as there is a small one.
func (k *shrinking) settle() {
	for seed := uint64(1); seed <= few; seed++ {
		if !slices.Contains(k.seeds, seed) && k.shown(k.best, seed) {
			k.seeds = append(k.seeds, seed)
		}
	}
	if !k.KeepSeed && len(k.seeds) > 1 && k.seeds[0] > few {
		k.seeds = k.seeds[1:]
	}
	if !k.KeepSeed {
		slices.Sort(k.seeds)
	}
}

// showing returns the seeds with which a scenario shows the same as the best does: all
// of those. What has one seed alone hangs by chance already, and with a client less all
// chances are others: then another of the first seeds does as well.
func (k *shrinking) showing(s scenarios.Scenario) (seeds []uint64, shows bool) {
	failed := slices.ContainsFunc(k.seeds, func(seed uint64) bool { return !k.shown(s, seed) })
	if !failed {
		return k.seeds, true
	}
	if k.KeepSeed || len(k.seeds) > 1 {
		return nil, false
	}
	for seed := uint64(1); seed <= few; seed++ {
		if seed != k.seeds[0] && k.shown(s, seed) {
			return []uint64{seed}, true
		}
	}
	return nil, false
}

// over reports whether nothing further may be tried, and takes note of the end of ctx.
func (k *shrinking) over() bool {
	if k.err == nil {
		k.err = k.ctx.Err()
	}
	return k.err != nil || k.Runs > 0 && k.runs >= k.Runs || k.Events > 0 && k.spent() >= k.Events
}

// spent is how many events the shrinking has cost: those of its runs, and what it took to
// make the candidates. Most candidates are never run; of a scenario with thousands of
// clients to make one costs more than a run of two clients.
func (k *shrinking) spent() int {
	spent := k.made
	if k.Spent != nil {
		spent += k.Spent()
	}
	return spent
}

// going yields what there is to try until nothing further may be tried.
func (k *shrinking) going(list iter.Seq[[]int]) iter.Seq[[]int] {
	return func(yield func([]int) bool) {
		for one := range list {
			if k.over() || !yield(one) {
				return
			}
		}
	}
}

// unfinished says why the shrinking has ended before nothing made the scenario smaller;
// empty: it has not.
func (k *shrinking) unfinished() string {
	switch {
	case errors.Is(k.err, context.DeadlineExceeded):
		return "time limit"
	case k.err != nil:
		return "stopped"
	case k.Runs > 0 && k.runs >= k.Runs:
		return fmt.Sprintf("limit of %d runs", k.Runs)
	case k.Events > 0 && k.spent() >= k.Events:
		return fmt.Sprintf("limit of %d events", k.Events)
	}
	return ""
}
