package sweep

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/shard"
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

// Work returns how many blocks of runs are left to be made for a log.
func (m Measurement) Work(log *shard.Log) (blocks int) {
	for _, list := range m.blocks() {
		for _, b := range list {
			if log.Shard().Has(b.number) && !log.Has(b.number) {
				blocks++
			}
		}
	}
	return blocks
}

// errStopped says that runs were stopped before the last of them had ended.
var errStopped = errors.New("stopped before the last run")

// Run makes the runs of a shard that its log has not, and adds their records to it. Of each unit whose
// records are all there, in their order, it calls take with the outcome. It stops at the first error, and
// without an error when ctx ends: a block that is not finished by then is lost. Otherwise it finishes the
// log. A log that is nil is that of all units, and keeps nothing.
func (m Measurement) Run(ctx context.Context, log *shard.Log, take func(Outcome) error) error {
	for _, list := range m.blocks() {
		var records []record
		for _, b := range list {
			if !log.Shard().Has(b.number) {
				continue
			}
			r, err := m.recordOf(ctx, log, b)
			if errors.Is(err, errStopped) {
				return nil
			}
			if err != nil {
				return fmt.Errorf("%s: %w", b.unit.name(), err)
			}
			records = append(records, r)
		}
		if len(records) == len(list) {
			if err := take(m.outcome(list, records)); err != nil {
				return err
			}
		}
	}
	return log.Finish()
}

// recordOf returns the record of a block from the log, or makes it.
func (m Measurement) recordOf(ctx context.Context, log *shard.Log, b block) (r record, err error) {
	known, err := log.Get(b.number, &r)
	switch {
	case err != nil:
		return r, err
	case known:
		return r, r.check(b)
	case ctx.Err() != nil:
		return r, errStopped
	}
	if r, err = m.measure(ctx, b); err != nil {
		return r, err
	}
	if m.Step != nil {
		m.Step()
	}
	return r, log.Add(b.number, r)
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
