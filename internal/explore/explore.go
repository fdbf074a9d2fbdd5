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
// time. When ctx ends, Explore returns what is known. The outcome does not depend on the number of
// workers, unless ctx ends.
func Explore(ctx context.Context, s scenarios.Scenario, b Bounds, l Limits, wanted []checker.Property, progress func(Outcome)) (Outcome, error) {
	o, err := explore(ctx, s, b, l.ready(), wanted, progress)
	if err != nil {
		return o, err
	}
	for _, j := range o.Judged {
		if j.Find != nil {
			if err := j.Find.repeat(context.WithoutCancel(ctx), s); err != nil {
				return o, err
			}
		}
	}
	return o, nil
}

// explore is Explore, but for what is known of finds.
func explore(ctx context.Context, s scenarios.Scenario, b Bounds, l Limits, wanted []checker.Property, progress func(Outcome)) (Outcome, error) {
	if err := b.Validate(); err != nil {
		return Outcome{}, err
	}
	plans, err := b.plans(s)
	if err != nil {
		return Outcome{}, err
	}
	x := exploration{scenario: s, bounds: b, limits: l, wanted: wanted, plans: plans, progress: progress}
	for i := range plans {
		if l.Log.Shard().Has(i) {
			x.chosen = append(x.chosen, i)
		}
	}
	last := Outcome{Plans: len(x.chosen), Deviations: -1}
	records := make([]*record, len(x.chosen))
	for deviations := 0; ; deviations++ {
		p := newPass(&x, deviations, last, records)
		if err := p.run(ctx); err != nil {
			return p.outcome, err
		}
		last, records = p.concluded(), p.records
		if ctx.Err() != nil {
			return last, nil
		}
		if last.Complete || last.Deviations < deviations {
			return last, l.Log.Finish()
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

// exploration is what all passes have in common.
type exploration struct {
	scenario scenarios.Scenario
	bounds   Bounds
	limits   Limits
	wanted   []checker.Property
	plans    [][]scenarios.Pick
	chosen   []int // the plans of the shard
	progress func(Outcome)
}

// pass is the runs with up to a number of deviations: a search for each plan.
type pass struct {
	*exploration
	deviations int
	before     Outcome   // of the passes before
	last       []*record // of the pass before

	mu      sync.Mutex
	records []*record // of the searches; nil: not begun
	outcome Outcome
}

func newPass(x *exploration, deviations int, before Outcome, last []*record) *pass {
	p := &pass{exploration: x, deviations: deviations, before: before, last: last, records: make([]*record, len(x.chosen))}
	p.outcome = Outcome{Plans: len(x.chosen), Deviations: before.Deviations}
	return p
}

// run runs all searches, several at a time. Not with [runner.InOrder]: plans differ so much that workers
// would wait for the longest.
func (x *pass) run(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var group sync.WaitGroup
	var begun atomic.Int64
	errs := make([]error, len(x.chosen))
	for range min(x.limits.Workers, len(x.chosen)) {
		group.Go(func() {
			for ctx.Err() == nil {
				i := int(begun.Add(1)) - 1
				if i >= len(x.chosen) {
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
	o, bound, share := x.outcome, false, 0.0
	for _, r := range x.records {
		if r != nil {
			bound = bound || r.Bound
			share += r.Tally.Share
		}
	}
	o.Share = share / float64(max(o.Plans, 1)) // in the order of the plans, so that it is the same each time
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

// judged counts what all searches have shown of a property, and finds the shortest run.
func (x *pass) judged(p checker.Property) Judged {
	j := Judged{Property: p}
	for _, r := range x.records {
		if r == nil {
			continue
		}
		j.Find = shorter(j.Find, r.Finds[p])
		j.Unknown += r.Verdicts[p][checker.Unknown]
		j.Held += r.Verdicts[p][checker.Holds]
	}
	return j
}

// search makes one search, unless its record is known.
func (x *pass) search(ctx context.Context, i int) error {
	if r := x.last[i]; r != nil && !r.Bound { // more deviations give the same runs
		x.note(i, r)
		return nil
	}
	unit := x.deviations*len(x.plans) + x.chosen[i]
	logged := new(record)
	switch known, err := x.limits.Log.Get(unit, logged); {
	case err != nil:
		return err
	case known:
		x.note(i, logged)
		return nil
	}
	faults := x.plans[x.chosen[i]]
	e, c, err := x.bounds.prepare(x.scenario, faults)
	if err != nil {
		return err
	}
	s := newSearch(e, c, x.deviations, x.limits, x.wanted)
	s.faults = faults
	err = s.run(ctx, func(t Tally) { x.note(i, &record{Tally: t}) })
	x.note(i, &s.record)
	if err == nil && ctx.Err() == nil {
		err = x.limits.Log.Add(unit, &s.record)
	}
	return err
}

// note takes note of how far a search has come.
func (x *pass) note(i int, r *record) {
	x.mu.Lock()
	defer x.mu.Unlock()
	var was Tally
	if x.records[i] != nil {
		was = x.records[i].Tally
	}
	x.records[i] = r
	o, t := &x.outcome, r.Tally
	o.Executions += t.Executions - was.Executions
	o.Cut += t.Cut - was.Cut
	o.Overlapping += t.Overlapping - was.Overlapping
	o.Events += t.Events - was.Events
	o.UntriedReturns += t.UntriedReturns - was.UntriedReturns
	o.States += t.States - was.States
	o.Share += (t.Share - was.Share) / float64(o.Plans)
	if r.Finished {
		o.Explored++
	}
	if x.progress != nil {
		x.progress(*o)
	}
}
