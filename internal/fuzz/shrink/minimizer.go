package shrink

import (
	"context"
	"slices"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/fuzz"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// Finding is a run that breaks a property.
type Finding struct {
	Property checker.Property

	// Found is the run that the hunt has found, Small the smallest that shows the same.
	Found fuzz.Run
	Small runner.Result

	// Shrunk says how Small came about.
	Shrunk Reduced

	// Excuse says what makes it a limit of the lock; nil: it is a defect.
	Excuse error
}

// Minimizer makes trophies of what a hunt finds.
type Minimizer struct {
	Backend runner.Backend

	// Terms are those that the hunt goes by, Promised what the lock promises: the two
	// are the same where nothing but defects is hunted.
	Terms, Promised func(scenarios.Scenario) fuzz.Terms

	// Causes are those of the hunt: what was due to faults of these kinds stays due to
	// them. None: what was due to the plan stays due to what is left of it.
	Causes []nemesis.Kind

	// Events is how many events it may cost to shrink one run; 0: [DefaultEvents]. They
	// are used up at the same place on every machine.
	Events int

	// Time is how long it may take to shrink one run, for which no two machines come to the
	// same; 0: as long as it takes.
	Time time.Duration

	// Progress, unless nil, is told of every smaller scenario that shows the same.
	Progress func(Reduced)
}

// leastNodes is the fewest nodes of which one can fail while the others are still a
// majority. What a lock on a quorum of nodes shows with fewer is true, and nobody wants
// to be told of it.
const leastNodes = 3

// Take shrinks a run that breaks a property. What it shrinks to breaks the property
// by the same cause under the same terms, and is a defect if the run was one. When ctx
// or the time ends, or the events are used up, the trophy is as small as it has become, and
// Shrunk.Unfinished says why.
func (t Minimizer) Take(ctx context.Context, p checker.Property, found fuzz.Run) (Finding, error) {
	trophy := Finding{Property: p, Found: found, Small: found.Result}
	least, err := t.leastNodes(found.Result.Done())
	if err != nil {
		return trophy, err
	}
	of, err := t.cause(context.WithoutCancel(ctx), p, found.Result) // without it nothing can be shrunk a little
	if err != nil {
		return trophy, err
	}
	cost := budgetOf(found.Result)
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
		return t.same(ctx, of, r)
	}
	limited, cancel := t.limited(ctx)
	defer cancel()
	small, err := t.shrinker(least, cost).Shrink(limited, found.Result.Done(), found.Seed, shows)
	if err != nil && limited.Err() == nil {
		return trophy, err
	}
	trophy.Shrunk = small
	// The run is made once more, whoever is in a hurry: what was asked of last need not
	// be what remained.
	trophy.Small, err = runner.Run(context.WithoutCancel(ctx), t.Backend, small.Scenario, small.Seed, nil)
	trophy.Excuse = t.excuse(p, trophy.Small.Done())
	return trophy, err
}

// leastNodes is the number of nodes below which a scenario is not shrunk.
func (t Minimizer) leastNodes(s scenarios.Scenario) (int, error) {
	e, err := runner.Prepare(t.Backend, s)
	if err != nil {
		return 0, err
	}
	if e.Header(0).Keepers == 1 { // the others are not the lock's
		return 1, nil
	}
	return leastNodes, nil
}

func (t Minimizer) excuse(p checker.Property, done scenarios.Scenario) error {
	return t.Promised(done).Excuse(p, done)
}

// exclusions are the properties that say that one holder excludes another, each with
// what lies behind it: whose leases overlap has overlapping sections as well, and these
// spoil what is written.
var exclusions = []checker.Property{checker.Lease, checker.Section, checker.Effect}

// cause is what has to stay the same of a run that breaks a property. An eviction that
// lets two clients hold a lock spoils what they write, and so does a client that works
// for longer than its lease; in the second case no two leases overlap. So an exclusion
// that was broken stays broken with those which it entails, no assumption may be left
// that the run had not left, no bound may become one that cannot be kept, and what was due to its faults stays due to some of them.
type cause struct {
	broken []checker.Property
	due    []checker.Property            // those of them that are not broken without the faults
	left   map[checker.Property][]string // names of assumptions
	bounds []string                      // that a correct lock keeps: what a smaller one could not keep shows nothing
	defect bool
	ended  bool // the run that was found came to its end
}

func (t Minimizer) cause(ctx context.Context, p checker.Property, r runner.Result) (cause, error) {
	done := r.Done()
	c := cause{broken: []checker.Property{p}, left: map[checker.Property][]string{}, bounds: fuzz.AchievableBounds(done), defect: t.excuse(p, done) == nil, ended: r.Report.Cut == ""}
	if i := slices.Index(exclusions, p); i > 0 {
		for _, q := range exclusions[:i] {
			if r.Report.Finding(q).Verdict == checker.Violated {
				c.broken = append(c.broken, q)
			}
		}
	}
	promised := t.Promised(done)
	for _, q := range c.broken {
		c.left[q] = promised[q].BrokenBy(done)
	}
	var err error
	c.due, err = t.due(ctx, r, c.broken)
	return c, err
}

// due returns those of some properties that a run violates by its faults.
func (t Minimizer) due(ctx context.Context, r runner.Result, violated []checker.Property) ([]checker.Property, error) {
	return fuzz.Candidate{Scenario: r.Done(), Seed: r.Seed}.CausedBy(ctx, t.Backend, t.Causes, violated)
}

// same reports whether a run breaks what another has broken, by the same cause. A limit
// may turn out to be a defect: that is worth more.
func (t Minimizer) same(ctx context.Context, c cause, r runner.Result) (bool, error) {
	done := r.Done()
	promised := t.Promised(done)
	for _, q := range c.broken {
		if r.Report.Finding(q).Verdict != checker.Violated || !subset(promised[q].BrokenBy(done), c.left[q]) {
			return false, nil
		}
	}
	if !subset(c.bounds, fuzz.AchievableBounds(done)) {
		return false, nil
	}
	p := c.broken[0]
	if t.Terms(done).Excuse(p, done) != nil || c.defect && promised.Excuse(p, done) != nil {
		return false, nil
	}
	if len(c.due) == 0 {
		return true, nil
	}
	due, err := t.due(ctx, r, c.due) // last, for it takes another run
	return len(due) == len(c.due), err
}

func subset(some, all []string) bool {
	return !slices.ContainsFunc(some, func(one string) bool { return !slices.Contains(all, one) })
}

// DefaultMaxEvents is how many events the shrinking of one run may cost where a [Minimizer] says
// nothing else: about ten seconds of one core. Finds of the debate take a tenth of it.
const DefaultMaxEvents = 50_000_000

// mostOfFound is how many times the events of the run that was found a candidate may have,
// and mostOfAny how many it may have in any case. One that needs more is no smaller story;
// where nothing takes time any more it would have none that ends.
const (
	mostOfFound = 16
	mostOfAny   = 200_000
)

// budget is what is left of the events of one shrinking.
type budget struct {
	each  int // of one run
	spent int
}

func budgetOf(found runner.Result) *budget {
	return &budget{each: max(mostOfFound*found.Events, mostOfAny)}
}

// run runs a candidate within its bound.
func (b *budget) run(ctx context.Context, backend runner.Backend, s scenarios.Scenario, seed uint64) (runner.Result, error) {
	e, err := runner.Prepare(backend, s)
	if err != nil {
		return runner.Result{}, err
	}
	r, err := e.Within(b.each).Run(ctx, seed, nil)
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

// limited returns the context under which one run is shrunk.
func (t Minimizer) limited(ctx context.Context) (context.Context, context.CancelFunc) {
	if t.Time == 0 {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, max(t.Time, time.Nanosecond))
}
