package hunt

import (
	"context"

	"github.com/lockstorm/lockstorm/history"
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
