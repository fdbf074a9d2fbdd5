package shrink

import (
	"context"
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
	least, err := t.leastNodes(found.Result.Executed())
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
	small, err := t.shrinker(least, cost).Shrink(limited, found.Result.Executed(), found.Seed, shows)
	if err != nil && limited.Err() == nil {
		return trophy, err
	}
	trophy.Shrunk = small
	// The run is made once more, whoever is in a hurry: what was asked of last need not
	// be what remained.
	trophy.Small, err = runner.Run(context.WithoutCancel(ctx), t.Backend, small.Scenario, small.Seed, nil)
	trophy.Excuse = t.excuse(p, trophy.Small.Executed())
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
