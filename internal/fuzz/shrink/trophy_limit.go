package shrink

import (
	"context"
	"time"

	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/scenarios"
)

// DefaultMaxEvents is how many events the shrinking of one run may cost where a [Minimizer] says
// nothing else: about ten seconds of one core. Finds of the debate take a tenth of it.
const DefaultMaxEvents = 50_000_000

// mostOfFound is how many times the events of the run that was found a candidate may have,
// and mostOfAny how many it may have in any case. One that needs more is no smaller story;
// where nothing takes time any more it would have none that ends.
const (
	mostOfFound = 16
	mostOfAny   = 200_000
)

// budget is what is left of the events of one shrinking.
type budget struct {
	each  int // of one run
	spent int
}

func budgetOf(found runner.Result) *budget {
	return &budget{each: max(mostOfFound*found.Events, mostOfAny)}
}

// run runs a candidate within its bound.
func (b *budget) run(ctx context.Context, backend runner.Backend, s scenarios.Scenario, seed uint64) (runner.Result, error) {
	e, err := runner.Prepare(backend, s)
	if err != nil {
		return runner.Result{}, err
	}
	r, err := e.WithEventLimit(b.each).Run(ctx, seed, nil)
	b.spent += r.Events
	return r, err
}

// shrinker returns the shrinker of one run.
func (t Minimizer) shrinker(least int, b *budget) Shrinker {
	events := t.Events
	if events == 0 {
		events = DefaultMaxEvents
	}
	return Shrinker{LeastNodes: least, Progress: t.Progress, Events: events, Spent: func() int { return b.spent }}
}

// limited returns the context under which one run is shrunk.
func (t Minimizer) limited(ctx context.Context) (context.Context, context.CancelFunc) {
	if t.Time == 0 {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, max(t.Time, time.Nanosecond))
}
