package trophy

import (
	"context"
	"slices"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/hunt"
	"github.com/lockstorm/lockstorm/hunt/assume"
	"github.com/lockstorm/lockstorm/hunt/shrink"
	"github.com/lockstorm/lockstorm/scenarios"
	"github.com/lockstorm/lockstorm/storm"
)

// Trophy is a run that breaks a property.
type Trophy struct {
	Property checker.Property

	// Found is the run that the hunt has found, Small the smallest that shows the same.
	Found hunt.Shot
	Small storm.Result

	// Excuse says what makes it a limit of the lock; nil: it is a defect.
	Excuse error
}

// Taker makes trophies of what a hunt finds.
type Taker struct {
	Backend storm.Backend

	// Terms are those that the hunt goes by, Promised what the lock promises: the two
	// are the same where nothing but defects is hunted.
	Terms, Promised func(scenarios.Scenario) assume.Terms
}

// Take shrinks a run that breaks a property. What it shrinks to breaks the property
// under the same terms, and is a defect if the run was one. When ctx ends, the trophy
// is as small as it has become.
func (t Taker) Take(ctx context.Context, p checker.Property, found hunt.Shot) (Trophy, error) {
	trophy := Trophy{Property: p, Found: found, Small: found.Result}
	trophy.Excuse = t.excuse(p, found.Result.Done())
	shows := func(ctx context.Context, s scenarios.Scenario, seed uint64) (bool, error) {
		r, err := storm.Run(ctx, t.Backend, s, seed, nil)
		switch {
		case err != nil:
			return false, err
		case r.Interrupted:
			return false, ctx.Err()
		case !t.same(p, r, trophy.Excuse):
			return false, nil
		}
		trophy.Small = r
		return true, nil
	}
	small, err := shrink.Shrink(ctx, found.Result.Done(), found.Seed, shows)
	if ctx.Err() != nil {
		return trophy, nil
	}
	if err != nil {
		return trophy, err
	}
	// The run is made once more: what shows was asked last need not be what remained.
	r, err := storm.Run(ctx, t.Backend, small, found.Seed, nil)
	if err == nil && !r.Interrupted {
		trophy.Small, trophy.Excuse = r, t.excuse(p, r.Done())
	}
	return trophy, err
}

// same reports whether a run breaks a property as one with this excuse did.
func (t Taker) same(p checker.Property, r storm.Result, excuse error) bool {
	done := r.Done()
	return slices.Contains(t.Terms(done).Breaches(done, r.Report), p) && (excuse != nil || t.excuse(p, done) == nil)
}

func (t Taker) excuse(p checker.Property, done scenarios.Scenario) error {
	return t.Promised(done).Excuse(p, done)
}
