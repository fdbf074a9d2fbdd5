package tune

import (
	"context"
	"runtime"
	"sync"

	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/scenarios"
)

// drawing is runs of scenarios that differ from run to run.
type drawing struct {
	backend runner.Backend
	seed    uint64 // of the first run
	told    func() // after each run
}

// run runs n scenarios, each with a seed of its own, which it is drawn from. The tally has the
// first of them. A scenario is drawn when its run begins: of a million, drawn beforehand,
// nothing would be seen for a minute, nor could it be stopped.
func (d drawing) run(ctx context.Context, n int, scenario func(dice) scenarios.Scenario) (runner.Tally, waits, error) {
	draw := func(seed uint64) (runner.Experiment, error) {
		return runner.Prepare(d.backend, scenario(newDice(seed)))
	}
	first, err := draw(d.seed)
	if err != nil {
		return runner.Tally{}, nil, err
	}
	var all waits // in no order
	var mutex sync.Mutex
	one := func(ctx context.Context, seed uint64) (runner.Result, error) {
		e, err := draw(seed)
		if err != nil {
			return runner.Result{}, err
		}
		meter := newWaitMeter()
		r, err := e.Run(ctx, seed, meter)
		mutex.Lock()
		defer mutex.Unlock()
		all = append(all, meter.whole()...)
		return r, err
	}
	tallies, err := runner.RunBatches(ctx, runtime.GOMAXPROCS(0), []runner.Batch{{
		Experiment: first, First: d.seed, Runs: n, One: one,
		Each: func(runner.Result) { d.told() },
	}})
	if err == nil {
		err = ctx.Err()
	}
	return tallies[0], all, err
}
