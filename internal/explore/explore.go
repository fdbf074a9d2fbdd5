package explore

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
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
	Tally               // of all plans, in the last pass
	Plans      int      // that there are
	Explored   int      // of these, to the end, in the last pass
	Deviations int      // every run with so many deviations was made; -1: not even every one without
	Complete   bool     // every run within the bounds was made; then the finds are the shortest of all
	Judged     []Judged // the wanted properties, in their order
	State      State    // to continue it
}

// Judged is what an exploration has shown of a property.
type Judged struct {
	Property checker.Property
	Verdict  Verdict
	Within   Verdict // of the runs with up to [Outcome.Deviations]; if there are none yet: unfinished
	Held     int     // executions that keep it, in the last pass
	Unknown  int     // executions with an unknown verdict
	Find     *Find   // the shortest run that violates it, of those that were made
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

// Verdict returns the verdict on all wanted properties together.
func (o Outcome) Verdict() Verdict {
	for _, v := range []Verdict{Violated, Unfinished, Holds} {
		if slices.ContainsFunc(o.Judged, func(j Judged) bool { return j.Verdict == v }) {
			return v
		}
	}
	return Vacuous
}

// Within returns the verdict on all wanted properties together, of the runs with up to
// [Outcome.Deviations]. What violates one counts in any case.
func (o Outcome) Within() Verdict {
	within := Outcome{}
	for _, j := range o.Judged {
		if j.Verdict == Unfinished {
			j.Verdict = j.Within
		}
		within.Judged = append(within.Judged, j)
	}
	return within.Verdict()
}

// Violations lists the violated properties, each with the events and faults of its shortest run, as in
// "V1 (160, 2) V2 (160, 2)".
func (o Outcome) Violations() string {
	var all []string
	for _, j := range o.Judged {
		if j.Find != nil {
			all = append(all, fmt.Sprintf("%s (%d, %d)", j.Property.Code(), j.Find.Events, j.Find.Faults))
		}
	}
	return strings.Join(all, " ")
}

// Find returns the shortest find; nil: there is none.
func (o Outcome) Find() (shortest *Find) {
	for _, j := range o.Judged {
		shortest = shorter(shortest, j.Find)
	}
	return shortest
}

// Explore makes the runs of a scenario within its bounds, and looks for the shortest that violates
// each wanted property. It makes several passes: the runs without deviations first, then those with
// up to one, and so on. So it finds what is easy to find at once, and what it has shown when it is
// stopped has a bound. Every request travels by itself, whatever the scenario's connections are.
//
// progress is called now and then with what has been done so far, by one caller at a time. When ctx
// ends, Explore returns what is known. The outcome does not depend on the number of workers, unless
// ctx ends.
func Explore(ctx context.Context, s scenarios.Scenario, b Bounds, l Limits, wanted []checker.Property, progress func(Outcome)) (Outcome, error) {
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
		x.outcome.Deviations, x.progress = last.Deviations, progress
		if err := x.run(ctx); err != nil {
			return x.outcome, err
		}
		x.conclude(b, last)
		last = x.outcome
		last.State = x.saved(world, b, l)
		if last.Complete || last.Deviations < deviations {
			return last.ofShard(l), nil
		}
	}
}

// ofShard returns the outcome of a shard: nothing is said to hold before the other shards are joined.
func (o Outcome) ofShard(l Limits) Outcome {
	if l.Shards == 1 {
		return o
	}
	o.Complete = false
	judged := o.Judged
	o.Judged = nil
	for _, j := range judged {
		j.Within = Unfinished
		j.Verdict = j.verdict(false)
		o.Judged = append(o.Judged, j)
	}
	return o
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

// pass is the runs with up to a number of deviations: a search for each plan.
type pass struct {
	wanted     []checker.Property
	deviations int
	plans      [][]picked
	prepare    func(chosen []picked) (*search, error)
	workers    int
	begun      []SavedSearch // by an exploration that is continued; nil: there is none
	searches   []*search     // nil: not begun
	progress   func(Outcome)

	mu      sync.Mutex
	tallies []Tally // of the searches
	outcome Outcome
}

func newPass(s scenarios.Scenario, b Bounds, l Limits, wanted []checker.Property, plans [][]picked, deviations int) *pass {
	x := &pass{
		wanted: wanted, deviations: deviations, plans: plans, workers: min(l.Workers, len(plans)),
		searches: make([]*search, len(plans)), tallies: make([]Tally, len(plans)),
	}
	x.outcome.Plans = len(plans)
	x.prepare = func(chosen []picked) (*search, error) {
		e, c, err := b.prepare(s, chosen)
		if err != nil {
			return nil, err
		}
		one := newSearch(e, c, deviations, l, wanted)
		one.faults = chosen
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

// conclude says what the pass has shown after those before.
func (x *pass) conclude(b Bounds, before Outcome) {
	o, bound := &x.outcome, false
	for _, s := range x.searches {
		bound = bound || s != nil && s.bound
	}
	if o.Explored == o.Plans {
		o.Deviations = x.deviations
		o.Complete = x.deviations == b.Deviations || !bound
	}
	for i, p := range x.wanted {
		j := x.judged(p)
		j.Within = Unfinished
		if i < len(before.Judged) {
			j.Find = shorter(before.Judged[i].Find, j.Find)
			j.Within = before.Judged[i].Within
		}
		j.Verdict = j.verdict(o.Complete)
		if o.Deviations == x.deviations {
			j.Within = j.verdict(true)
		}
		o.Judged = append(o.Judged, j)
	}
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

// verdict returns the verdict on a property, after all runs or some of them.
func (j Judged) verdict(complete bool) Verdict {
	switch {
	case j.Find != nil:
		return Violated
	case !complete || j.Unknown > 0:
		return Unfinished
	case j.Held == 0:
		return Vacuous
	}
	return Holds
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
func (x *pass) tell(i int, t Tally) {
	x.mu.Lock()
	defer x.mu.Unlock()
	was := x.tallies[i]
	x.tallies[i] = t
	o := &x.outcome
	o.Executions += t.Executions - was.Executions
	o.Cut += t.Cut - was.Cut
	o.Events += t.Events - was.Events
	o.States += t.States - was.States
	o.Share += (t.Share - was.Share) / float64(o.Plans)
	if x.progress != nil {
		x.progress(*o)
	}
}
