package parts

import (
	"context"
	"errors"
	"fmt"

	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/scenarios"
)

// Task is the runs of one scenario, with the seeds First, First+1, …
type Task struct {
	Scenario scenarios.Scenario
	First    uint64
	Runs     int
}

// ErrStopped says that runs were stopped before the last of them had ended.
var ErrStopped = errors.New("stopped before the last run")

// Of returns the task of one of its parts. It returns an error if the part has runs that are not
// of this task.
func (t Task) Of(p Part) (Task, error) {
	offset := p.First - t.First // which wraps around if the part begins before
	if p.Runs < 1 || t.Runs < p.Runs || offset > uint64(t.Runs-p.Runs) {
		return t, fmt.Errorf("%v: the unit has the %d seeds from %d on", p, t.Runs, t.First)
	}
	t.First, t.Runs = p.First, p.Runs
	return t, nil
}

// Run makes all runs, at most sideBySide at a time, and calls step, unless it is nil, after each.
// The error is [ErrStopped] if ctx ends before the last run.
func (t Task) Run(ctx context.Context, b runner.Backend, sideBySide int, step func(runs int)) (runner.Tally, error) {
	e, err := runner.Prepare(b, t.Scenario)
	if err != nil {
		return runner.Tally{}, err
	}
	batch := runner.Batch{Experiment: e, First: t.First, Runs: t.Runs}
	if step != nil {
		batch.Each = func(runner.Result) { step(1) }
	}
	tallies, err := runner.RunBatches(ctx, sideBySide, []runner.Batch{batch})
	if err == nil && tallies[0].Interrupted {
		err = ErrStopped
	}
	return tallies[0], err
}

// Join reads the stored blocks that are the parts of the task, in order, and returns the tally of
// all its runs. It calls read with the index of each part, and keeps one block at a time.
func (t Task) Join(b runner.Backend, list []Part, read func(i int) ([]byte, error)) (runner.Tally, error) {
	whole := runner.NewTally(t.Scenario)
	if err := cover(list, t.First, t.Runs); err != nil {
		return whole, err
	}
	contents, err := Hash(t.Scenario)
	if err != nil {
		return whole, err
	}
	for i, p := range list {
		text, err := read(i)
		if err != nil {
			return whole, fmt.Errorf("%v: %w", p, err)
		}
		tally, err := Task{t.Scenario, p.First, p.Runs}.decode(b, contents, text)
		if err != nil {
			return whole, fmt.Errorf("%v: %w", p, err)
		}
		whole.Append(tally)
	}
	return whole, nil
}
