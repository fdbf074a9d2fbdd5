package shrink

import (
	"context"
	"slices"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/promises"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/search/hunt"
	"github.com/lockstorm/lockstorm/scenarios"
)

// Finding is a run that violates a property, reduced.
type Finding struct {
	Property checker.Property

	// Found is the run of the hunt, Small the smallest that shows the same.
	Found hunt.Run
	Small runner.Result

	// Shrunk says how Small was found.
	Shrunk Reduced

	// Excuse says why it is a limit of the lock; nil: it is a defect.
	Excuse error
}

// Minimizer reduces the violations that a hunt finds.
type Minimizer struct {
	Backend runner.Backend

	// Terms are those of the hunt, Promised what the lock promises. They are the same if only
	// defects are hunted.
	Terms, Promised func(scenarios.Scenario) promises.Terms

	// Events is how many events the reduction of one run may cost; 0: [DefaultMaxEvents]. It
	// ends at the same candidate on every machine.
	Events int

	// Time limits the duration of one reduction, with results that depend on the machine; 0:
	// no limit.
	Time time.Duration

	// Shortest, unless nil, looks for a run of the smallest scenario that violates the property with fewer
	// faults, by other latencies or another order, and that is accepted; or for one with all faults and
	// fewer events. nil: there is none.
	Shortest func(ctx context.Context, s scenarios.Scenario, p checker.Property, events int, accept func(runner.Result) (bool, error)) (*runner.Result, error)

	// Progress, unless nil, is called with every smaller scenario that shows the same.
	Progress func(Reduced)
}

// leastNodes is the fewest nodes with which one can fail and leave a majority. What a lock on
// a quorum shows with fewer nodes is of no interest.
const leastNodes = 3

// Minimize reduces a run that violates a property. The result violates it by the same cause
// under the same terms, and is a defect if the run was one. If ctx ends or a limit is reached,
// the result is the smallest so far, and Shrunk.Unfinished says why.
func (t Minimizer) Minimize(ctx context.Context, p checker.Property, found hunt.Run) (Finding, error) {
	finding := Finding{Property: p, Found: found, Small: found.Result}
	least, err := t.leastNodes(found.Result.Executed())
	if err != nil {
		return finding, err
	}
	cost := &budget{each: max(eventFactor*found.Result.Events, minEventLimit)}
	of, err := t.signature(context.WithoutCancel(ctx), p, found.Result, cost) // needed even after ctx has ended
	if err != nil {
		return finding, err
	}
	shows := func(ctx context.Context, s scenarios.Scenario, seed uint64) (bool, error) {
		r, err := cost.run(ctx, t.Backend, s, seed)
		switch {
		case err != nil:
			return false, err
		case r.Interrupted:
			return false, ctx.Err()
		case of.ended && r.Report.Cut != "": // one that comes to no end is another story
			return false, nil
		}
		return t.matches(ctx, of, r, cost)
	}
	limited, cancel := t.withTimeLimit(ctx)
	defer cancel()
	small, err := t.shrinker(least, cost).Shrink(limited, found.Result.Executed(), found.Seed, shows)
	if err != nil && limited.Err() == nil {
		return finding, err
	}
	finding.Shrunk = small
	// The run is made once more even after the limits: the last candidate need not be the
	// one that was kept.
	finding.Small, err = runner.Run(context.WithoutCancel(ctx), t.Backend, small.Scenario, small.Seed, nil)
	if err == nil && t.Shortest != nil && small.Unfinished == "" {
		err = t.shortest(limited, of, &finding)
	}
	finding.Excuse = t.excuse(p, finding.Small.Executed())
	return finding, err
}

// shortest replaces the smallest run by one with fewer faults or events, if there is one.
func (t Minimizer) shortest(ctx context.Context, of signature, finding *Finding) error {
	r, err := t.Shortest(ctx, finding.Small.Executed(), finding.Property, finding.Small.Events, func(r runner.Result) (bool, error) {
		return t.matches(ctx, of, r, &budget{}) // the search has limits of its own
	})
	switch {
	case ctx.Err() != nil: // then the larger run it is
		finding.Shrunk.Unfinished = "time limit"
		return nil
	case err == nil && r != nil:
		finding.Small = *r
	}
	return err
}

// leastNodes returns the smallest number of nodes for a scenario.
func (t Minimizer) leastNodes(s scenarios.Scenario) (int, error) {
	e, err := runner.Prepare(t.Backend, s)
	if err != nil {
		return 0, err
	}
	if e.Header(0).Keepers == 1 { // the lock uses no other
		return 1, nil
	}
	return leastNodes, nil
}

func (t Minimizer) excuse(p checker.Property, done scenarios.Scenario) error {
	return t.Promised(done).Excuse(p, done)
}

// exclusions are the properties of mutual exclusion, each followed by what it implies:
// overlapping leases lead to overlapping sections, and these to lost updates.
var exclusions = []checker.Property{checker.Lease, checker.Section, checker.Effect}

// signature is what a smaller run has to have in common with the run that was found. Two
// clients lose updates if an eviction lets both hold the lock, and also if one works for
// longer than its lease; in the second case no leases overlap. So a violated exclusion stays
// violated together with those that it follows from, no further assumption may be broken, no
// bound may become unachievable, and a violation that was caused by faults stays so.
type signature struct {
	broken            []checker.Property
	causedByFaults    []checker.Property            // those of broken that need the faults
	brokenAssumptions map[checker.Property][]string // names of assumptions
	bounds            []string                      // names of achievable bounds: breaking others shows nothing
	defect            bool
	ended             bool // the run was not cut short
}

func (t Minimizer) signature(ctx context.Context, p checker.Property, r runner.Result, cost *budget) (signature, error) {
	done := r.Executed()
	c := signature{broken: []checker.Property{p}, brokenAssumptions: map[checker.Property][]string{}, bounds: promises.Achievable(done), defect: t.excuse(p, done) == nil, ended: r.Report.Cut == ""}
	if i := slices.Index(exclusions, p); i > 0 {
		for _, q := range exclusions[:i] {
			if r.Report.Finding(q).Verdict == checker.Violated {
				c.broken = append(c.broken, q)
			}
		}
	}
	promised := t.Promised(done)
	for _, q := range c.broken {
		c.brokenAssumptions[q] = promised[q].BrokenBy(done)
	}
	var err error
	c.causedByFaults, err = t.causedByFaults(ctx, r, c.broken, cost)
	return c, err
}

// controls is how many control runs are made besides the one with the run's own seed. Without faults all
// later random values are used differently, so a single run may avoid the violation by chance.
const controls = 3

// causedByFaults returns those of the violated properties that a run violates because of its faults.
// Control runs without the plan, with the same seed and some others, do not violate these. A property
// violated there too has another cause, such as clients that work for longer than their leases.
func (t Minimizer) causedByFaults(ctx context.Context, r runner.Result, violated []checker.Property, cost *budget) ([]checker.Property, error) {
	calm := r.Executed()
	if len(calm.Plan) == 0 {
		return nil, nil
	}
	calm.Plan = nil
	e, err := runner.Prepare(t.Backend, calm)
	if err != nil {
		return nil, err
	}
	e = e.WithEventLimit(hunt.MaxEvents)
	due := slices.Clone(violated)
	for n := uint64(0); n <= controls && len(due) > 0; n++ {
		seed := r.Seed
		if n > 0 {
			seed = n
		}
		control, err := e.Run(ctx, seed, nil)
		cost.spent += control.Events
		switch {
		case err != nil:
			return nil, err
		case control.Interrupted:
			return nil, ctx.Err()
		}
		due = slices.DeleteFunc(due, func(p checker.Property) bool { return control.Report.Finding(p).Verdict == checker.Violated })
	}
	return due, nil
}

// matches reports whether a run has a signature. A limit may become a defect: that is worth
// more.
func (t Minimizer) matches(ctx context.Context, c signature, r runner.Result, cost *budget) (bool, error) {
	done := r.Executed()
	promised := t.Promised(done)
	for _, q := range c.broken {
		if r.Report.Finding(q).Verdict != checker.Violated || !subset(promised[q].BrokenBy(done), c.brokenAssumptions[q]) {
			return false, nil
		}
	}
	if !subset(c.bounds, promises.Achievable(done)) {
		return false, nil
	}
	p := c.broken[0]
	if t.Terms(done).Excuse(p, done) != nil || c.defect && promised.Excuse(p, done) != nil {
		return false, nil
	}
	if len(c.causedByFaults) == 0 {
		return true, nil
	}
	due, err := t.causedByFaults(ctx, r, c.causedByFaults, cost) // last, since it takes another run
	return len(due) == len(c.causedByFaults), err
}

func subset(some, all []string) bool {
	return !slices.ContainsFunc(some, func(one string) bool { return !slices.Contains(all, one) })
}

// DefaultMaxEvents is the default of [Minimizer.Events]: about ten seconds of one core.
// Findings of the debate need a tenth of it.
const DefaultMaxEvents = 50_000_000

// A candidate may have eventFactor times the events of the run that was found, and in any
// case minEventLimit. One that needs more is no smaller; some candidates would never end.
const (
	eventFactor   = 16
	minEventLimit = 200_000
)

// budget counts the events of one reduction.
type budget struct {
	each  int // limit of one run
	spent int
}

// run runs a candidate within its limit.
func (b *budget) run(ctx context.Context, backend runner.Backend, s scenarios.Scenario, seed uint64) (runner.Result, error) {
	e, err := runner.Prepare(backend, s)
	if err != nil {
		return runner.Result{}, err
	}
	r, err := e.WithEventLimit(b.each).Run(ctx, seed, nil)
	b.spent += r.Events
	return r, err
}

// shrinker returns the shrinker of one run.
func (t Minimizer) shrinker(least int, b *budget) Shrinker {
	events := t.Events
	if events == 0 {
		events = DefaultMaxEvents
	}
	return Shrinker{LeastNodes: least, Progress: t.Progress, Events: events, Spent: func() int { return b.spent }}
}

// withTimeLimit returns the context of one reduction.
func (t Minimizer) withTimeLimit(ctx context.Context) (context.Context, context.CancelFunc) {
	if t.Time == 0 {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, max(t.Time, time.Nanosecond))
}
