package fuzz

import (
	"context"
	"slices"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// Candidate is one run that can be made: a scenario whose plan says all that goes
// wrong, and the seed of the rest.
type Candidate struct {
	Scenario scenarios.Scenario
	Seed     uint64
}

// Run makes the run. The history goes to keep as well, unless that is nil.
func (c Candidate) Run(ctx context.Context, b runner.Backend, keep history.Sink) (runner.Result, error) {
	return runner.Run(ctx, b, c.Scenario, c.Seed, keep)
}

// controls is how many control runs are made, beside the one with the candidate's seed.
// Without a pause all that is drawn falls out otherwise, and what does not happen then
// may do so by luck alone.
const controls = 3

// Due returns those of some properties, all of which the candidate violates, whose
// violation is due to its faults of some kinds; none: to its plan. It makes control runs
// without these faults, with the same seed and some others: what is violated there as
// well is due to something else, such as clients that work for longer than their leases.
// When ctx ends that is its error.
func (c Candidate) Due(ctx context.Context, b runner.Backend, kinds []nemesis.Kind, violated []checker.Property) (due []checker.Property, err error) {
	control := c.without(kinds)
	if len(control.Scenario.Plan) == len(c.Scenario.Plan) { // it would be the same run
		return nil, nil
	}
	due = slices.Clone(violated)
	for n := uint64(0); n <= controls && len(due) > 0; n++ {
		if n > 0 {
			control.Seed = n
		}
		r, err := control.within(ctx, b)
		switch {
		case err != nil:
			return nil, err
		case r.Interrupted:
			return nil, ctx.Err()
		}
		due = slices.DeleteFunc(due, func(p checker.Property) bool { return r.Report.Finding(p).Verdict == checker.Violated })
	}
	return due, nil
}

// within makes the run with the bound on events of all runs of a hunt.
func (c Candidate) within(ctx context.Context, b runner.Backend) (runner.Result, error) {
	e, err := runner.Prepare(b, c.Scenario)
	if err != nil {
		return runner.Result{}, err
	}
	return e.WithEventLimit(mostEvents).Run(ctx, c.Seed, nil)
}

// without is the candidate without its faults of some kinds; none: without its plan.
func (c Candidate) without(kinds []nemesis.Kind) Candidate {
	c.Scenario.Plan = slices.DeleteFunc(slices.Clone(c.Scenario.Plan), func(f nemesis.Fault) bool {
		return len(kinds) == 0 || slices.Contains(kinds, f.Action.Kind())
	})
	return c
}
