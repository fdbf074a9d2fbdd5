package explore

import (
	"cmp"
	"context"
	"sync"
	"sync/atomic"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/runner/simulated"
	"github.com/lockstorm/lockstorm/internal/sim"
	"github.com/lockstorm/lockstorm/scenarios"
)

// Verdict is the outcome of an exploration.
type Verdict string

// The verdicts.
const (
	Holds      Verdict = "holds"      // no run within the bounds violates a wanted property
	Violated   Verdict = "violated"   // some run does
	Unfinished Verdict = "unfinished" // none does of those that were made, and others were not made
)

// Outcome is what an exploration has shown.
type Outcome struct {
	Tally          // of all plans
	Plans    int   // that there are
	Explored int   // of these, to the end
	Finds    int   // plans with a run that violates a wanted property
	Find     *Find // the shortest of these runs, of those that were made; nil: none
}

// Finished reports whether every run was made. Then the find is the shortest of all.
func (o Outcome) Finished() bool { return o.Explored == o.Plans }

// Verdict returns the verdict.
func (o Outcome) Verdict() Verdict {
	switch {
	case o.Find != nil:
		return Violated
	case !o.Finished():
		return Unfinished
	}
	return Holds
}

// Explore makes the runs of a scenario within its bounds and looks for the shortest that violates
// a wanted property. progress is called now and then with what has been done so far, by one caller
// at a time. When ctx ends, Explore returns what is known. The outcome does not depend on the
// number of workers, unless ctx ends.
func Explore(ctx context.Context, s scenarios.Scenario, b Bounds, l Limits, wanted []checker.Property, progress func(Outcome)) (Outcome, error) {
	if err := b.Validate(); err != nil {
		return Outcome{}, err
	}
	l = l.ready()
	plans, err := b.plans(s)
	if err != nil {
		return Outcome{}, err
	}
	x := &exploration{tallies: make([]Tally, len(plans)), searches: make([]*search, len(plans)), progress: progress}
	x.outcome.Plans = len(plans)
	for i, p := range plans {
		with := s
		with.Plan, with.Expect = p, nil
		e, err := runner.Prepare(simulated.Backend(), with)
		if err != nil {
			return Outcome{}, err
		}
		x.searches[i] = newSearch(e, b.choices(with.World(), p), b.Deviations, l, wanted)
	}
	err = x.run(ctx, min(l.Workers, len(plans)))
	return x.outcome, err
}

// exploration is the searches of all plans.
type exploration struct {
	searches []*search
	progress func(Outcome)

	mu      sync.Mutex
	tallies []Tally // of the searches
	outcome Outcome // but for the find
}

// run runs all searches, several at a time.
func (x *exploration) run(ctx context.Context, workers int) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var group sync.WaitGroup
	var begun atomic.Int64
	errs := make([]error, len(x.searches))
	for range workers {
		group.Go(func() {
			for ctx.Err() == nil {
				i := int(begun.Add(1)) - 1
				if i >= len(x.searches) {
					return
				}
				if errs[i] = x.search(ctx, i); errs[i] != nil {
					stop()
				}
			}
		})
	}
	group.Wait()
	for _, s := range x.searches {
		if s.best != nil && s.best.shorter(x.outcome.Find) {
			x.outcome.Find = s.best
		}
	}
	return cmp.Or(errs...)
}

// search runs one search.
func (x *exploration) search(ctx context.Context, i int) error {
	s := x.searches[i]
	err := s.run(ctx, func(t Tally) { x.tell(i, t) })
	s.seen = nil
	x.mu.Lock()
	defer x.mu.Unlock()
	if s.finished {
		x.outcome.Explored++
	}
	if s.best != nil {
		x.outcome.Finds++
	}
	return err
}

// tell takes note of how far a search has come.
func (x *exploration) tell(i int, t Tally) {
	x.mu.Lock()
	defer x.mu.Unlock()
	was := x.tallies[i]
	x.tallies[i] = t
	o := &x.outcome
	o.Executions += t.Executions - was.Executions
	o.Cut += t.Cut - was.Cut
	o.States += t.States - was.States
	o.Share += (t.Share - was.Share) / float64(o.Plans)
	if x.progress != nil {
		x.progress(*o)
	}
}

// Replay repeats the run, and passes its history to keep.
func (f *Find) Replay(ctx context.Context, b Bounds, keep history.Sink) (runner.Result, error) {
	with := f.Result.Scenario
	e, err := runner.Prepare(simulated.Backend(), with)
	if err != nil {
		return runner.Result{}, err
	}
	c := b.choices(with.World(), with.Plan)
	c.Chooser = &follower{f.Ways}
	return opening(e, c).Run(ctx, seed, keep)
}

// follower is a chooser that takes given ways, and the first way at all other points.
type follower struct{ left []int }

// Choose implements [sim.Chooser].
func (f *follower) Choose(_ sim.Point, ways int) int {
	if len(f.left) == 0 {
		return 0
	}
	way := min(f.left[0], ways-1)
	f.left = f.left[1:]
	return way
}

// GoOn implements [sim.Chooser].
func (f *follower) GoOn(*sim.World) bool { return true }
