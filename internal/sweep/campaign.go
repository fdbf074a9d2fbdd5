package sweep

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/lockstorm/lockstorm/internal/parts"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/scenarios"
)

// Campaign measures a sweep on a backend.
type Campaign struct {
	Sweep   Sweep
	Backend runner.Backend

	// Versions is what it is made with: see [Head].
	Versions map[string]string

	// Runs is how many runs each point gets (see [Runs]), and each x at which a boundary is
	// searched. At least 1.
	Runs int

	// First is the seed of the first run of the first unit. Unit k has the seeds from First +
	// (k-1) × Runs on, so that no two units share a run and their results are independent.
	First uint64

	// Only are the numbers of the units to measure. Nil means all. Of these, Shard selects a
	// part.
	Only  []int
	Shard Shard

	// SideBySide is how many runs are made in parallel, at least 1. In virtual time it does
	// not affect the results.
	SideBySide int

	// Step, unless nil, is called with the number of runs that are done or turn out not to be
	// needed.
	Step func(runs int)
}

// Validate returns an error if the campaign is invalid, or if the backend cannot run one of
// its scenarios.
func (c Campaign) Validate() error {
	switch {
	case c.Runs < 1:
		return fmt.Errorf("%d runs: want at least 1", c.Runs)
	case !c.Shard.valid():
		return fmt.Errorf("the shard %d/%d: want i/n, with i from 1 to n", c.Shard.I, c.Shard.Of)
	case c.SideBySide < 1:
		return fmt.Errorf("%d runs side by side: want at least 1", c.SideBySide)
	}
	if err := c.Sweep.Validate(); err != nil {
		return err
	}
	for i, n := range c.Only {
		if n < 1 || n > c.Sweep.Units() {
			return c.Sweep.unknownUnit(n)
		}
		if slices.Contains(c.Only[:i], n) {
			return fmt.Errorf("point %d is named twice", n)
		}
	}
	if c.First > math.MaxUint64-uint64(c.Sweep.Units())*uint64(c.Runs) {
		return fmt.Errorf("the first seed %d: %d seeds are needed from there on", c.First, c.Sweep.Units()*c.Runs)
	}
	for _, u := range c.chosen() {
		for _, s := range u.scenarios() {
			if _, err := runner.Prepare(c.Backend, s); err != nil {
				return fmt.Errorf("%s: %w", u.name(), err)
			}
		}
	}
	return nil
}

// chosen returns the units to measure, of all shards.
func (c Campaign) chosen() []unit {
	all := c.Sweep.units()
	if c.Only == nil {
		return all
	}
	return slices.DeleteFunc(all, func(u unit) bool { return !slices.Contains(c.Only, u.number) })
}

// Units returns how many units the campaign measures: those of its shard.
func (c Campaign) Units() int { return len(c.units()) }

// Work returns how many runs are left when done units are done. It is an upper bound, since
// the search of a boundary may need fewer.
func (c Campaign) Work(done int) int {
	n := 0
	for _, u := range c.units()[done:] {
		n += c.runs(u) * u.trials()
	}
	return n
}

// Run measures the units in order, except the first done ones, and calls take with each
// outcome. It stops at the first error, and without an error when ctx ends. A unit that is not
// finished by then is lost.
func (c Campaign) Run(ctx context.Context, done int, take func(Outcome) error) error {
	for _, u := range c.units()[done:] {
		if ctx.Err() != nil {
			return nil
		}
		o, err := c.measure(ctx, u)
		if errors.Is(err, parts.ErrStopped) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%s: %w", u.name(), err)
		}
		if err := take(o); err != nil {
			return err
		}
	}
	return nil
}

// Runs returns how many of a campaign's runs a point gets. If its formula predicts 0 or 1, it
// is a tenth of them, but at least 100: an interval at 0 or 1 is still narrower than one at a
// half. The number depends on the prediction alone. If it depended on the results, the
// intervals would be wrong.
func Runs(runs int, predicted *float64) int {
	if predicted == nil || *predicted > 0 && *predicted < 1 {
		return runs
	}
	return min(runs, max(runs/10, 100))
}

func (c Campaign) runs(u unit) int {
	if u.boundary != nil {
		return c.Runs
	}
	return Runs(c.Runs, u.point.Predicted)
}

// first returns the seed of the first run of a unit.
func (c Campaign) first(u unit) uint64 { return c.First + uint64(u.number-1)*uint64(c.Runs) }

// measure measures a unit in one piece.
func (c Campaign) measure(ctx context.Context, u unit) (Outcome, error) {
	if u.boundary != nil {
		l, err := c.findBoundary(ctx, u)
		return c.located(u, l), err
	}
	tally, err := c.task(u).Run(ctx, c.Backend, c.SideBySide, c.Step)
	return c.pointed(u, tally), err
}

// task returns the runs of a point.
func (c Campaign) task(u unit) parts.Task {
	return parts.Task{Scenario: u.point.Scenario, First: c.first(u), Runs: c.runs(u)}
}

// pointed returns the outcome of a point whose runs have this tally.
func (c Campaign) pointed(u unit, tally runner.Tally) Outcome {
	m := measured(tally, c.Sweep.Property)
	m.Predicted = u.point.Predicted
	return Outcome{Unit: u.number, Curve: u.point.Curve, At: u.point.At, Runs: c.runs(u), First: c.first(u), Point: &m}
}

// located returns the outcome of a boundary that is there.
func (c Campaign) located(u unit, l Located) Outcome {
	return Outcome{Unit: u.number, Curve: u.boundary.Curve, At: u.boundary.At, Runs: c.runs(u), First: c.first(u), Boundary: &l}
}

// batch returns the runs of a scenario of a unit.
func (c Campaign) batch(u unit, s scenarios.Scenario) (runner.Batch, error) {
	e, err := runner.Prepare(c.Backend, s)
	return runner.Batch{Experiment: e, First: c.first(u), Runs: c.runs(u)}, err
}

func (c Campaign) step(runs int) {
	if c.Step != nil {
		c.Step(runs)
	}
}
