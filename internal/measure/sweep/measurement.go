package sweep

import (
	"fmt"
	"math"
	"slices"

	"github.com/lockstorm/lockstorm/internal/runner"
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

	// Only are the numbers of the units to measure. Nil means all.
	Only []int

	// SideBySide is how many runs are made in parallel, at least 1. In virtual time it does
	// not affect the results.
	SideBySide int

	// Step, unless nil, is called after each block of runs.
	Step func()
}

// Validate returns an error if the measurement is invalid, or if the backend cannot run one of
// its scenarios.
func (m Measurement) Validate() error {
	switch {
	case m.Runs < 1:
		return fmt.Errorf("%d runs: want at least 1", m.Runs)
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

// chosen returns the units to measure.
func (m Measurement) chosen() []unit {
	all := m.Sweep.units()
	if m.Only == nil {
		return all
	}
	return slices.DeleteFunc(all, func(u unit) bool { return !slices.Contains(m.Only, u.number) })
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
