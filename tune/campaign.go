package tune

import (
	"context"
	"math"
	"runtime"
	"slices"
	"time"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/scenarios"
	"github.com/lockstorm/lockstorm/storm"
)

// waits are how long grants took from when the lock was wanted and free, in the order of the
// runs.
type waits []time.Duration

// waitMeter takes the waits of one run, in which there is one resource.
type waitMeter struct {
	waits
	wanted map[int]history.Time // since when, by client
	still  map[int]bool         // it was paused meanwhile: no setting helps
	held   map[string]bool      // by token
	free   history.Time         // since when
}

func newWaitMeter() *waitMeter {
	return &waitMeter{wanted: map[int]history.Time{}, still: map[int]bool{}, held: map[string]bool{}}
}

// Record is for a [history.Sink].
func (w *waitMeter) Record(e *history.Event) {
	switch e.Kind {
	case history.Acquire:
		if _, waits := w.wanted[e.Client]; !waits {
			w.wanted[e.Client] = e.Time
		}
	case history.Granted:
		if !w.still[e.Client] {
			w.waits = append(w.waits, e.Time.Sub(max(w.wanted[e.Client], w.free)))
		}
		delete(w.wanted, e.Client)
		delete(w.still, e.Client)
		w.held[e.Token] = true
	case history.Release, history.Lapse, history.Lost:
		if w.held[e.Token] {
			delete(w.held, e.Token)
			w.free = e.Time
		}
	case history.Pause:
		if _, waits := w.wanted[e.Client]; waits {
			w.still[e.Client] = true
		}
	}
}

// p99 is the 99th percentile and its 95 % interval, by the order of the values: how many of n
// lie below it is binomial. Of none all are 0.
func (w waits) p99() (value, lo, hi time.Duration) {
	if len(w) == 0 {
		return 0, 0, 0
	}
	list := slices.Sorted(slices.Values(w))
	n := float64(len(list))
	half := 1.96 * math.Sqrt(n*0.99*0.01)
	at := func(rank float64) time.Duration {
		return list[min(max(int(math.Ceil(rank))-1, 0), len(list)-1)]
	}
	return at(0.99 * n), at(0.99*n - half), at(0.99*n + half + 1)
}

// campaign is runs of scenarios that differ from run to run.
type campaign struct {
	backend storm.Backend
	seed    uint64 // of the first run
	told    func() // after each run
}

// run runs scenario(0), …, scenario(n-1), each with a seed of its own, which it is drawn from.
func (c campaign) run(ctx context.Context, n int, scenario func(d dice) scenarios.Scenario) ([]storm.Tally, waits, error) {
	batches, meters := make([]storm.Batch, n), make([]*waitMeter, n)
	for i := range n {
		seed := c.seed + uint64(i)
		e, err := storm.Prepare(c.backend, scenario(newDice(seed)))
		if err != nil {
			return nil, nil, err
		}
		meters[i] = newWaitMeter()
		batches[i] = storm.Batch{
			Experiment: e, First: seed, Runs: 1,
			One:  func(ctx context.Context, seed uint64) (storm.Result, error) { return e.Run(ctx, seed, meters[i]) },
			Each: func(storm.Result) { c.told() },
		}
	}
	tallies, err := storm.RunBatches(ctx, runtime.GOMAXPROCS(0), batches)
	if err == nil {
		err = ctx.Err()
	}
	var all waits
	for _, m := range meters {
		all = append(all, m.waits...)
	}
	return tallies, all, err
}
