package sweep

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

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
func (c Campaign) Units() int { return len(shardOf(c.Shard, c.chosen())) }

// Work returns how many runs are left when done units are done. It is an upper bound, since
// the search of a boundary may need fewer.
func (c Campaign) Work(done int) int {
	n := 0
	for _, u := range shardOf(c.Shard, c.chosen())[done:] {
		n += c.runs(u) * u.trials()
	}
	return n
}

// Run measures the units in order, except the first done ones, and calls take with each
// outcome. It stops at the first error, and without an error when ctx ends. A unit that is not
// finished by then is lost.
func (c Campaign) Run(ctx context.Context, done int, take func(Outcome) error) error {
	for _, u := range shardOf(c.Shard, c.chosen())[done:] {
		if ctx.Err() != nil {
			return nil
		}
		o, err := c.measure(ctx, u)
		if errors.Is(err, errStopped) {
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

// errStopped says that a unit was not measured to its end.
var errStopped = errors.New("stopped")

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

func (c Campaign) measure(ctx context.Context, u unit) (Outcome, error) {
	o := Outcome{Unit: u.number, Runs: c.runs(u), First: c.first(u)}
	if b := u.boundary; b != nil {
		o.Curve, o.At = b.Curve, b.At
		l, err := c.findBoundary(ctx, u)
		o.Boundary = &l
		return o, err
	}
	o.Curve, o.At = u.point.Curve, u.point.At
	tally, err := c.runAll(ctx, u)
	m := measured(tally, c.Sweep.Property)
	m.Predicted = u.point.Predicted
	o.Point = &m
	return o, err
}

// runAll makes all runs of a point.
func (c Campaign) runAll(ctx context.Context, u unit) (runner.Tally, error) {
	b, err := c.batch(u, u.point.Scenario)
	if err != nil {
		return runner.Tally{}, err
	}
	b.Each = func(runner.Result) { c.step(1) }
	tallies, err := runner.RunBatches(ctx, c.SideBySide, []runner.Batch{b})
	if err == nil && tallies[0].Interrupted {
		err = errStopped
	}
	return tallies[0], err
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
