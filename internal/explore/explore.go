package explore

import (
	"cmp"
	"context"
	"sync"
	"sync/atomic"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/runner/simulated"
	"github.com/lockstorm/lockstorm/scenarios"
)

// Explore makes the runs of a scenario within its bounds, and looks for the shortest that violates
// each wanted property. It makes several passes: the runs without deviations first, then those with
// up to one, and so on. So it finds what is easy to find at once, and what it has shown when it is
// stopped has a bound. Every request travels by itself, whatever the scenario's connections are.
//
// progress, unless it is nil, is called now and then with what has been done so far, by one caller at a
// time; state returns the state to continue from, between two runs. When ctx ends, Explore returns what
// is known. The outcome does not depend on the number of workers, unless ctx ends.
func Explore(ctx context.Context, s scenarios.Scenario, b Bounds, l Limits, wanted []checker.Property, progress Progress) (Outcome, error) {
	o, err := explore(ctx, s, b, l, wanted, progress)
	if err != nil {
		return o, err
	}
	return o, o.nameDeviations(ctx)
}

// Progress is called with how far an exploration has come.
type Progress func(now Outcome, state func() State)

// explore is Explore, but for the deviations of finds.
func explore(ctx context.Context, s scenarios.Scenario, b Bounds, l Limits, wanted []checker.Property, progress Progress) (Outcome, error) {
	if err := b.Validate(); err != nil {
		return Outcome{}, err
	}
	plans, err := b.plans(s)
	if err != nil {
		return Outcome{}, err
	}
	world, err := worldSum(s, b, wanted)
	if err != nil {
		return Outcome{}, err
	}
	l = l.ready()
	last, begun, err := l.resumed(ctx, s, b, wanted, plans, world)
	if err != nil || last.Complete {
		return last.ofShard(l), err
	}
	for deviations := last.Deviations + 1; ; deviations++ {
		x := newPass(s, b, l, wanted, plans, deviations)
		x.begun, begun = begun, nil
		x.world, x.before, x.outcome.Deviations, x.progress = world, last, last.Deviations, progress
		if err := x.run(ctx); err != nil {
			return x.outcome, err
		}
		last = x.concluded()
		last.State = x.saved(last)
		if last.Complete || last.Deviations < deviations {
			return last.ofShard(l), nil
		}
	}
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

// pass is the runs with up to a number of deviations: a search for each plan.
type pass struct {
	world      string // see [State]
	bounds     Bounds
	limits     Limits
	wanted     []checker.Property
	before     Outcome // of the passes before
	deviations int
	plans      [][]scenarios.Pick
	prepare    func(chosen []scenarios.Pick) (*search, error)
	workers    int
	begun      []SavedSearch // by an exploration that is continued; nil: there is none
	progress   Progress
	between    sync.RWMutex // of all searches

	mu       sync.Mutex
	searches []*search // nil: not begun
	tallies  []Tally   // of the searches
	outcome  Outcome
}

func newPass(s scenarios.Scenario, b Bounds, l Limits, wanted []checker.Property, plans [][]scenarios.Pick, deviations int) *pass {
	x := &pass{
		bounds: b, limits: l, wanted: wanted, deviations: deviations, plans: plans, workers: min(l.Workers, len(plans)),
		searches: make([]*search, len(plans)), tallies: make([]Tally, len(plans)),
	}
	x.outcome.Plans = len(plans)
	x.prepare = func(chosen []scenarios.Pick) (*search, error) {
		e, c, err := b.prepare(s, chosen)
		if err != nil {
			return nil, err
		}
		one := newSearch(e, c, deviations, l, wanted)
		one.faults, one.between = chosen, &x.between
		return one, nil
	}
	return x
}

// run runs all searches, several at a time. Not with [runner.InOrder]: plans differ so much that workers
// would wait for the longest.
func (x *pass) run(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var group sync.WaitGroup
	var begun atomic.Int64
	errs := make([]error, len(x.plans))
	for range x.workers {
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

// concluded returns what the pass has shown so far, after those before.
func (x *pass) concluded() Outcome {
	o, bound := x.outcome, false
	for _, s := range x.searches {
		bound = bound || s != nil && s.bound
	}
	if o.Explored == o.Plans {
		o.Deviations = x.deviations
		o.Complete = x.deviations == x.bounds.Deviations || !bound
	}
	for i, p := range x.wanted {
		j := x.judged(p)
		j.Within = Unfinished
		if i < len(x.before.Judged) {
			j.Find = shorter(x.before.Judged[i].Find, j.Find)
			j.Within = x.before.Judged[i].Within
		}
		j.Verdict = j.verdict(o.Complete)
		if o.Deviations == x.deviations {
			j.Within = j.verdict(true)
		}
		o.Judged = append(o.Judged, j)
	}
	return o
}

// state returns the state to continue from. No run is under way meanwhile. x.mu is locked.
func (x *pass) state() State {
	x.between.Lock()
	defer x.between.Unlock()
	return x.saved(x.concluded())
}

// judged counts what all searches have shown of a property, and finds the shortest run.
func (x *pass) judged(p checker.Property) Judged {
	j := Judged{Property: p}
	for _, s := range x.searches {
		if s == nil {
			continue
		}
		j.Find = shorter(j.Find, s.finds[p])
		j.Unknown += s.verdicts[p][checker.Unknown]
		j.Held += s.verdicts[p][checker.Holds]
	}
	return j
}

// search runs one search.
func (x *pass) search(ctx context.Context, i int) error {
	s, err := x.prepare(x.plans[i])
	if err != nil {
		return err
	}
	if x.begun != nil {
		s.resume(x.begun[i])
	}
	x.mu.Lock()
	x.searches[i] = s
	x.mu.Unlock()
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
func (x *pass) tell(i int, t Tally) {
	x.mu.Lock()
	defer x.mu.Unlock()
	was := x.tallies[i]
	x.tallies[i] = t
	o := &x.outcome
	o.Executions += t.Executions - was.Executions
	o.Cut += t.Cut - was.Cut
	o.Overlapping += t.Overlapping - was.Overlapping
	o.Events += t.Events - was.Events
	o.UntriedReturns += t.UntriedReturns - was.UntriedReturns
	o.States += t.States - was.States
	o.Share += (t.Share - was.Share) / float64(o.Plans)
	if x.progress != nil {
		x.progress(*o, x.state)
	}
}
