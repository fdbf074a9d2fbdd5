package hunt

import (
	"context"
	"slices"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
	"github.com/lockstorm/lockstorm/storm"
)

// Candidate is one run that can be made: a scenario whose plan says all that goes
// wrong, and the seed of the rest.
type Candidate struct {
	Scenario scenarios.Scenario
	Seed     uint64
}

// Run makes the run. The history goes to keep as well, unless that is nil.
func (c Candidate) Run(ctx context.Context, b storm.Backend, keep history.Sink) (storm.Result, error) {
	return storm.Run(ctx, b, c.Scenario, c.Seed, keep)
}

// Due returns those of some properties, all of which the candidate violates, whose
// violation is due to its faults of some kinds; none: to its plan. It makes a control
// run, with the same seed and without these faults: what is violated there as well is due
// to something else, such as clients that work for longer than their leases. When ctx
// ends that is its error.
func (c Candidate) Due(ctx context.Context, b storm.Backend, kinds []nemesis.Kind, violated []checker.Property) ([]checker.Property, error) {
	control := c.without(kinds)
	if len(control.Scenario.Plan) == len(c.Scenario.Plan) { // it would be the same run
		return nil, nil
	}
	r, err := control.Run(ctx, b, nil)
	switch {
	case err != nil:
		return nil, err
	case r.Interrupted:
		return nil, ctx.Err()
	}
	return slices.DeleteFunc(slices.Clone(violated), func(p checker.Property) bool {
		return r.Report.Finding(p).Verdict == checker.Violated
	}), nil
}

// without is the candidate without its faults of some kinds; none: without its plan.
func (c Candidate) without(kinds []nemesis.Kind) Candidate {
	c.Scenario.Plan = slices.DeleteFunc(slices.Clone(c.Scenario.Plan), func(f nemesis.Fault) bool {
		return len(kinds) == 0 || slices.Contains(kinds, f.Action.Kind())
	})
	return c
}
