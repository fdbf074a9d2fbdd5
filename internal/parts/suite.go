package parts

import (
	"context"
	"fmt"

	"github.com/lockstorm/lockstorm/internal/runner"
)

// Suite is the runs of several scenarios on one backend, such as a debate or a comparison. Each
// task is a unit; they are numbered from 1.
type Suite struct {
	Backend    runner.Backend
	Tasks      []Task
	SideBySide int // runs of a part at a time, at least 1
}

// Parts divides all tasks into parts of at most block runs.
func (s Suite) Parts(block int) (list []Part) {
	for i, t := range s.Tasks {
		list = append(list, Divide(i+1, t.First, t.Runs, block)...)
	}
	return list
}

// RunPart makes the runs of a part, calls step, unless it is nil, with the number of runs that
// have ended, and returns the stored result. The error is [ErrStopped] if ctx ends before the
// last run.
func (s Suite) RunPart(ctx context.Context, p Part, step func(runs int)) ([]byte, error) {
	t, err := s.task(p.Unit)
	if err != nil {
		return nil, err
	}
	part, err := t.Of(p)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", t.Scenario.Name, err)
	}
	tally, err := part.Run(ctx, s.Backend, s.SideBySide, step)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", t.Scenario.Name, err)
	}
	return part.Store(s.Backend, tally)
}

// Join joins the stored results of parts that are all parts of some tasks, in order: read is
// called with the index of a part, and take with each task and the tally of all its runs. It
// keeps the results of one task at a time, and stops at the first error.
func (s Suite) Join(list []Part, read func(i int) ([]byte, error), take func(Task, runner.Tally) error) error {
	for from, of := range ByUnit(list) {
		t, err := s.task(of[0].Unit)
		if err != nil {
			return err
		}
		tally, err := t.Join(s.Backend, of, func(i int) ([]byte, error) { return read(from + i) })
		if err != nil {
			return fmt.Errorf("%s: %w", t.Scenario.Name, err)
		}
		if err := take(t, tally); err != nil {
			return err
		}
	}
	return nil
}

// task returns the task of a unit.
func (s Suite) task(unit int) (Task, error) {
	if unit < 1 || unit > len(s.Tasks) {
		return Task{}, fmt.Errorf("no unit %d: want 1 to %d", unit, len(s.Tasks))
	}
	return s.Tasks[unit-1], nil
}
