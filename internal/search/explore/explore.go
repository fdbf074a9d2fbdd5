package explore

import (
	"cmp"
	"context"
	"sync"
	"sync/atomic"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/runner"
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
	if err := b.Validate(); err != nil {
		return Outcome{}, err
	}
	plans, err := b.plans(s)
	if err != nil {
		return Outcome{}, err
	}
	x := exploration{scenario: s, bounds: b, limits: l.ready(), wanted: wanted, plans: plans, progress: progress}
	for i := range plans {
		if l.Log.Shard().Has(i) {
			x.chosen = append(x.chosen, i)
		}
	}
	o := Outcome{Deviations: -1}
	for ; ; x.deviations++ {
		x.last, x.records = x.records, make([]*record, len(x.chosen))
		x.outcome = Outcome{Plans: len(x.chosen), Deviations: o.Deviations}
		if err := x.pass(ctx); err != nil {
			return x.outcome, err
		}
		o = x.concluded(o)
		if o.Complete || o.Deviations < x.deviations || ctx.Err() != nil {
			break
		}
	}
	if ctx.Err() == nil {
		if err := l.Log.Finish(); err != nil {
			return o, err
		}
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

// exploration is the runs of a scenario: in each pass a search for each plan.
type exploration struct {
	scenario scenarios.Scenario
	bounds   Bounds
	limits   Limits
	wanted   []checker.Property
	plans    [][]scenarios.Pick
	chosen   []int // the plans of the shard
	progress func(Outcome)

	deviations int       // of the pass: at most so many in a run
	last       []*record // of the searches of the pass before

	mu      sync.Mutex
	records []*record // of the searches of the pass; nil: not begun
	outcome Outcome   // so far
}

// pass makes all searches with so many deviations, several at a time. Not with [runner.InOrder]: plans differ
// so much that workers would wait for the longest.
func (x *exploration) pass(ctx context.Context) error {
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

// search makes one search, unless its record is known.
func (x *exploration) search(ctx context.Context, i int) error {
	if x.last != nil && x.last[i] != nil && !x.last[i].Bound { // more deviations give the same runs
		x.note(i, x.last[i])
		return nil
	}
	unit := x.deviations*len(x.plans) + x.chosen[i]
	logged := new(record)
	known, err := x.limits.Log.Get(unit, logged)
	if known {
		x.note(i, logged)
	}
	if known || err != nil {
		return err
	}
	faults := x.plans[x.chosen[i]]
	e, c, err := x.bounds.prepare(x.scenario, faults)
	if err != nil {
		return err
	}
	if x.limits.Watched != nil {
		e = x.limits.Watched(e)
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
func (x *exploration) note(i int, r *record) {
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

// concluded returns what the pass has shown so far, after the passes before.
func (x *exploration) concluded(before Outcome) Outcome {
	o, bound, share := x.outcome, false, 0.0
	for _, p := range x.wanted {
		o.Judged = append(o.Judged, Judged{Property: p, Within: Unfinished})
	}
	for _, r := range x.records {
		if r == nil {
			continue
		}
		bound = bound || r.Bound
		share += r.Tally.Share
		for i := range o.Judged {
			j := &o.Judged[i]
			j.Find = shorter(j.Find, r.Finds[j.Property])
			j.Unknown += r.Verdicts[j.Property][checker.Unknown]
			j.Held += r.Verdicts[j.Property][checker.Holds]
		}
	}
	o.Share = share / float64(max(o.Plans, 1)) // in the order of the plans, so that it is the same each time
	if o.Explored == o.Plans {
		o.Deviations = x.deviations
		o.Complete = x.deviations == x.bounds.Deviations || !bound
	}
	for i := range o.Judged {
		j := &o.Judged[i]
		if before.Judged != nil {
			j.Find, j.Within = shorter(before.Judged[i].Find, j.Find), before.Judged[i].Within
		}
		j.Verdict = j.verdict(o.Complete)
		if o.Deviations == x.deviations {
			j.Within = j.verdict(true)
		}
	}
	return o
}

// Bounds of [ShortestRun]. A violation that needs more deviations says less than one with a fault more.
const (
	shortestDeviations = 2
	shortestEvents     = 300_000 // of the runs with one choice of faults
)

// ShortestRun explores the world of a run that violates a property: without the faults of its plan, with one
// of them, and so on. It returns the shortest run with the fewest faults that violates the property and is
// accepted; with all faults, only one of fewer than events events. nil: there is none.
func ShortestRun(ctx context.Context, s scenarios.Scenario, p checker.Property, events int, accept func(runner.Result) (bool, error)) (*runner.Result, error) {
	for faults := range len(s.Plan) + 1 {
		b := Bounds{Latencies: DefaultLatencies, Draws: DefaultDraws, Deviations: shortestDeviations, Faults: faults}
		o, err := Explore(ctx, s, b, Limits{Events: shortestEvents}, []checker.Property{p}, nil)
		if err != nil || ctx.Err() != nil {
			return nil, err
		}
		find := o.Find()
		if find == nil || faults == len(s.Plan) && find.Events >= events {
			continue
		}
		if ok, err := accept(find.Result); ok || err != nil {
			return &find.Result, err
		}
	}
	return nil, nil
}
