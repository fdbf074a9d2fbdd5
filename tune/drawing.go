package tune

import (
	"context"
	"runtime"

	"github.com/lockstorm/lockstorm/scenarios"
	"github.com/lockstorm/lockstorm/storm"
)

// drawing is runs of scenarios that differ from run to run.
type drawing struct {
	backend storm.Backend
	seed    uint64 // of the first run
	told    func() // after each run
}

// run runs scenario(0), …, scenario(n-1), each with a seed of its own, which it is drawn from.
func (d drawing) run(ctx context.Context, n int, scenario func(dice) scenarios.Scenario) ([]storm.Tally, waits, error) {
	batches, meters := make([]storm.Batch, n), make([]*waitMeter, n)
	for i := range n {
		seed := d.seed + uint64(i)
		e, err := storm.Prepare(d.backend, scenario(newDice(seed)))
		if err != nil {
			return nil, nil, err
		}
		meters[i] = newWaitMeter()
		batches[i] = storm.Batch{
			Experiment: e, First: seed, Runs: 1,
			One:  func(ctx context.Context, seed uint64) (storm.Result, error) { return e.Run(ctx, seed, meters[i]) },
			Each: func(storm.Result) { d.told() },
		}
	}
	tallies, err := storm.RunBatches(ctx, runtime.GOMAXPROCS(0), batches)
	if err == nil {
		err = ctx.Err()
	}
	var all waits
	for _, m := range meters {
		all = append(all, m.whole()...)
	}
	return tallies, all, err
}
