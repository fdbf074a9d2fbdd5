package explore

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/runner/simulated"
	"github.com/lockstorm/lockstorm/internal/sim"
	"github.com/lockstorm/lockstorm/scenarios"
)

// Verdict is the outcome of an exploration, for a property or for all.
type Verdict string

// The verdicts.
const (
	Holds      Verdict = "holds"      // every run within the bounds keeps the property, or has nothing that it is about
	Violated   Verdict = "violated"   // some run violates it
	Unfinished Verdict = "unfinished" // no run that was made violates it, and others were not made or could not be judged
	Vacuous    Verdict = "n/a"        // no run has anything that the property is about
)

// Outcome is what an exploration has shown.
type Outcome struct {
	Tally             // of all plans
	Plans    int      // that there are
	Explored int      // of these, to the end
	Judged   []Judged // the wanted properties, in their order
}

// Judged is what an exploration has shown of a property.
type Judged struct {
	Property checker.Property
	Verdict  Verdict
	Unknown  int   // executions with an unknown verdict
	Find     *Find // the shortest run that violates it, of those that were made
}

// Against compares the verdict with what a scenario expects.
func (j Judged) Against(e scenarios.Expectations) scenarios.Match {
	want, stated := e.Want(j.Property)
	switch violated := j.Verdict == Violated; {
	case want == checker.Unknown:
		return scenarios.Met
	case violated && want != checker.Violated:
		return scenarios.Contradicted
	case j.Verdict == Unfinished:
		return scenarios.Open
	case stated && want == checker.Violated && !violated:
		return scenarios.Contradicted
	}
	return scenarios.Met
}

// Finished reports whether every run was made. Then the finds are the shortest of all.
func (o Outcome) Finished() bool { return o.Explored == o.Plans }

// Verdict returns the verdict on all wanted properties together.
func (o Outcome) Verdict() Verdict {
	for _, v := range []Verdict{Violated, Unfinished, Holds} {
		if slices.ContainsFunc(o.Judged, func(j Judged) bool { return j.Verdict == v }) {
			return v
		}
	}
	return Vacuous
}

// Find returns the shortest find; nil: there is none.
func (o Outcome) Find() (shortest *Find) {
	for _, j := range o.Judged {
		shortest = shorter(shortest, j.Find)
	}
	return shortest
}

// Explore makes the runs of a scenario within its bounds, and looks for the shortest that violates
// each wanted property. Every request travels by itself, whatever the scenario's connections are.
// progress is called now and then with what has been done so far, by one caller at a time. When ctx
// ends, Explore returns what is known. The outcome does not depend on the number of workers, unless
// ctx ends.
func Explore(ctx context.Context, s scenarios.Scenario, b Bounds, l Limits, wanted []checker.Property, progress func(Outcome)) (Outcome, error) {
	if err := b.Validate(); err != nil {
		return Outcome{}, err
	}
	l = l.ready()
	plans, err := b.plans(s)
	if err != nil {
		return Outcome{}, err
	}
	x := &exploration{plans: plans, searches: make([]*search, len(plans)), tallies: make([]Tally, len(plans)), progress: progress}
	x.outcome.Plans = len(plans)
	x.prepare = func(chosen []picked) (*search, error) {
		e, c, err := b.prepare(s, chosen)
		if err != nil {
			return nil, err
		}
		one := newSearch(e, c, b.Deviations, l, wanted)
		one.faults = chosen
		return one, nil
	}
	err = x.run(ctx, min(l.Workers, len(plans)))
	for _, p := range wanted {
		x.outcome.Judged = append(x.outcome.Judged, x.judged(p))
	}
	return x.outcome, err
}

// prepare returns the experiment with chosen faults, and the choices of its worlds.
func (b Bounds) prepare(s scenarios.Scenario, chosen []picked) (runner.Experiment, sim.Choices, error) {
	with, err := picking(s, chosen)
	if err != nil {
		return runner.Experiment{}, sim.Choices{}, err
	}
	e, err := runner.Prepare(simulated.Backend(), with)
	return e, b.choices(with.World(), with.Plan), err
}

// exploration is the searches of all plans.
type exploration struct {
	plans    [][]picked
	prepare  func(chosen []picked) (*search, error)
	searches []*search // nil: not begun
	progress func(Outcome)

	mu      sync.Mutex
	tallies []Tally // of the searches
	outcome Outcome // but for the properties
}

// run runs all searches, several at a time.
func (x *exploration) run(ctx context.Context, workers int) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var group sync.WaitGroup
	var begun atomic.Int64
	errs := make([]error, len(x.plans))
	for range workers {
		group.Go(func() {
			for ctx.Err() == nil {
				i := int(begun.Add(1)) - 1
				if i >= len(x.plans) {
					return
				}
				if errs[i] = x.search(ctx, i); errs[i] != nil {
					stop()
				}
			}
		})
	}
	group.Wait()
	return cmp.Or(errs...)
}

// judged returns what all searches have shown of a property.
func (x *exploration) judged(p checker.Property) Judged {
	j, about := Judged{Property: p}, 0
	for _, s := range x.searches {
		if s == nil {
			continue
		}
		j.Find = shorter(j.Find, s.finds[p])
		j.Unknown += s.verdicts[p][checker.Unknown]
		about += s.verdicts[p][checker.Holds]
	}
	switch {
	case j.Find != nil:
		j.Verdict = Violated
	case !x.outcome.Finished() || j.Unknown > 0:
		j.Verdict = Unfinished
	case about == 0:
		j.Verdict = Vacuous
	default:
		j.Verdict = Holds
	}
	return j
}

// search runs one search.
func (x *exploration) search(ctx context.Context, i int) error {
	s, err := x.prepare(x.plans[i])
	if err != nil {
		return err
	}
	x.searches[i] = s
	err = s.run(ctx, func(t Tally) { x.tell(i, t) })
	s.seen = nil // the memory
	x.mu.Lock()
	defer x.mu.Unlock()
	if s.finished {
		x.outcome.Explored++
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
