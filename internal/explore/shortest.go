package explore

import (
	"context"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/scenarios"
)

// Bounds of [Shortest]. A violation that needs more deviations says less than one with a fault more.
const (
	shortestDeviations = 2
	shortestEvents     = 300_000 // of the runs with one choice of faults
)

// Shortest explores the world of a run that violates a property: without the faults of its plan, with one
// of them, and so on. It returns the shortest run with the fewest faults that violates the property and is
// accepted; with all faults, only one of fewer than events events. nil: there is none.
func Shortest(ctx context.Context, s scenarios.Scenario, p checker.Property, events int, accept func(runner.Result) (bool, error)) (*runner.Result, error) {
	for faults := range len(s.Plan) + 1 {
		b := Bounds{Latencies: DefaultLatencies, Draws: DefaultDraws, Deviations: shortestDeviations, Faults: faults}
		o, err := Explore(ctx, s, b, Limits{Events: shortestEvents}, []checker.Property{p}, nil)
		if err != nil || ctx.Err() != nil {
			return nil, err
		}
		find := o.Find()
		if find == nil || faults == len(s.Plan) && find.Events >= events {
			continue
		}
		if ok, err := accept(find.Result); ok || err != nil {
			return &find.Result, err
		}
	}
	return nil, nil
}
