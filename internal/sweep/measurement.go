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

// Measurement measures a sweep on a backend.
type Measurement struct {
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

// Validate returns an error if the measurement is invalid, or if the backend cannot run one of
// its scenarios.
func (m Measurement) Validate() error {
	switch {
	case m.Runs < 1:
		return fmt.Errorf("%d runs: want at least 1", m.Runs)
	case !m.Shard.valid():
		return fmt.Errorf("the shard %d/%d: want i/n, with i from 1 to n", m.Shard.I, m.Shard.Of)
	case m.SideBySide < 1:
		return fmt.Errorf("%d runs side by side: want at least 1", m.SideBySide)
	}
	if err := m.Sweep.Validate(); err != nil {
		return err
	}
	for i, n := range m.Only {
		if n < 1 || n > m.Sweep.Units() {
			return m.Sweep.unknownUnit(n)
		}
		if slices.Contains(m.Only[:i], n) {
			return fmt.Errorf("point %d is named twice", n)
		}
	}
	if m.First > math.MaxUint64-uint64(m.Sweep.Units())*uint64(m.Runs) {
		return fmt.Errorf("the first seed %d: %d seeds are needed from there on", m.First, m.Sweep.Units()*m.Runs)
	}
	for _, u := range m.chosen() {
		for _, s := range u.scenarios() {
			if _, err := runner.Prepare(m.Backend, s); err != nil {
				return fmt.Errorf("%s: %w", u.name(), err)
			}
		}
	}
	return nil
}

// chosen returns the units to measure, of all shards.
func (m Measurement) chosen() []unit {
	all := m.Sweep.units()
	if m.Only == nil {
		return all
	}
	return slices.DeleteFunc(all, func(u unit) bool { return !slices.Contains(m.Only, u.number) })
}

// Units returns how many units the measurement measures: those of its shard.
func (m Measurement) Units() int { return len(m.units()) }

// Work returns how many runs are left when done units are done. It is an upper bound, since
// the search of a boundary may need fewer.
func (m Measurement) Work(done int) int {
	n := 0
	for _, u := range m.units()[done:] {
		n += m.runs(u) * u.trials()
	}
	return n
}

// Run measures the units in order, except the first done ones, and calls take with each
// outcome. It stops at the first error, and without an error when ctx ends. A unit that is not
// finished by then is lost.
func (m Measurement) Run(ctx context.Context, done int, take func(Outcome) error) error {
	for _, u := range m.units()[done:] {
		if ctx.Err() != nil {
			return nil
		}
		o, err := m.measure(ctx, u)
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

// Runs returns how many of a measurement's runs a point gets. If its formula predicts 0 or 1, it
// is a tenth of them, but at least 100: an interval at 0 or 1 is still narrower than one at a
// half. The number depends on the prediction alone. If it depended on the results, the
// intervals would be wrong.
func Runs(runs int, predicted *float64) int {
	if predicted == nil || *predicted > 0 && *predicted < 1 {
		return runs
	}
	return min(runs, max(runs/10, 100))
}

func (m Measurement) runs(u unit) int {
	if u.boundary != nil {
		return m.Runs
	}
	return Runs(m.Runs, u.point.Predicted)
}

// first returns the seed of the first run of a unit.
func (m Measurement) first(u unit) uint64 { return m.First + uint64(u.number-1)*uint64(m.Runs) }

// measure measures a unit in one piece.
func (m Measurement) measure(ctx context.Context, u unit) (Outcome, error) {
	if u.boundary != nil {
		l, err := m.findBoundary(ctx, u)
		return m.located(u, l), err
	}
	tally, err := m.task(u).Run(ctx, m.Backend, m.SideBySide, m.Step)
	return m.pointed(u, tally), err
}

// task returns the runs of a point.
func (m Measurement) task(u unit) parts.Task {
	return parts.Task{Scenario: u.point.Scenario, First: m.first(u), Runs: m.runs(u)}
}

// pointed returns the outcome of a point whose runs have this tally.
func (m Measurement) pointed(u unit, tally runner.Tally) Outcome {
	p := measured(tally, m.Sweep.Property)
	p.Predicted = u.point.Predicted
	return Outcome{Unit: u.number, Curve: u.point.Curve, At: u.point.At, Runs: m.runs(u), First: m.first(u), Point: &p}
}

// located returns the outcome of a boundary that is there.
func (m Measurement) located(u unit, l Located) Outcome {
	return Outcome{Unit: u.number, Curve: u.boundary.Curve, At: u.boundary.At, Runs: m.runs(u), First: m.first(u), Boundary: &l}
}

// batch returns the runs of a scenario of a unit.
func (m Measurement) batch(u unit, s scenarios.Scenario) (runner.Batch, error) {
	e, err := runner.Prepare(m.Backend, s)
	return runner.Batch{Experiment: e, First: m.first(u), Runs: m.runs(u)}, err
}

func (m Measurement) step(runs int) {
	if m.Step != nil {
		m.Step(runs)
	}
}
