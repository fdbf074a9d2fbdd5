package tune

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/search/rare"
	"github.com/lockstorm/lockstorm/internal/textfmt"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// LateHolders is the probability that a hold is late because of pauses, with the recommended setting: as
// the model reckons it, and as multilevel splitting estimates it from runs ([rare.Probability]). Both are
// for the longest hold, which is late most often.
type LateHolders struct {
	Hold time.Duration `json:"hold"`

	// Reckoned is an upper bound: see [Risk.Pauses].
	Reckoned float64 `json:"reckoned"`

	// Estimated is the share of holds that still work when another client, which always waits, is
	// granted the lock, with its 95 % interval. 0: there is no figure, see Doubts.
	Estimated float64 `json:"estimated"`
	Low       float64 `json:"low"`
	High      float64 `json:"high"`

	Runs   int      `json:"runs"`
	Doubts []string `json:"doubts,omitempty"` // why there is no figure
}

// Agreement says how the figures fit.
func (l LateHolders) Agreement() string {
	text := fmt.Sprintf("of 10⁹ holds of %v, at most %.2g are late as reckoned", textfmt.Duration(l.Hold), 1e9*l.Reckoned)
	if len(l.Doubts) > 0 {
		return text + "; not estimated: " + l.Doubts[0]
	}
	text += fmt.Sprintf(", and %.2g (%.2g to %.2g) as estimated from %s runs: ", 1e9*l.Estimated, 1e9*l.Low, 1e9*l.High, textfmt.Grouped(l.Runs))
	switch {
	case l.Low > l.Reckoned:
		return text + "they disagree"
	case l.High < l.Reckoned:
		return text + "they agree, because the model reckons an upper bound"
	}
	return text + "they agree"
}

// estimateSize is the size of an estimate. The first pause of a hold that needs two shortens the way to
// a violation little, so populations have to be large.
var estimateSize = rare.Options{Particles: 1000, Moves: 10, Repetitions: 8, Runs: 5_000_000}

// noEstimate says why there is nothing to estimate, or returns "".
func (m *model) noEstimate(s Setting) string {
	switch {
	case m.FenceChecked:
		return "late holders do no harm"
	case m.Pauses.Length == nil:
		return "only pauses whose lengths are stated as a distribution can be drawn"
	case s.ExtendEvery > 0:
		return "runs with extensions cost too much"
	}
	return ""
}

// lateHolders returns the estimate with a seed, or nil if it was not asked for.
func (m *model) lateHolders(ctx context.Context, o Options, w Weighed, seed uint64) (*LateHolders, error) {
	if !o.Estimate {
		return nil, nil
	}
	if why := m.noEstimate(w.Setting); why != "" {
		return &LateHolders{Hold: longest(m.Hold), Reckoned: w.Risk.Pauses, Doubts: []string{why}}, nil
	}
	size := estimateSize
	size.Seed = seed
	late, err := m.estimateLate(ctx, o, w, size)
	if err != nil {
		return nil, fmt.Errorf("late holders: %w", err)
	}
	return &late, nil
}

// estimateLate estimates how many of the longest holds are late.
func (m *model) estimateLate(ctx context.Context, o Options, w Weighed, size rare.Options) (LateHolders, error) {
	hold := longest(m.Hold)
	draw := m.lateHolds(w.Setting, hold)
	worlds := func(random rand.Source) (runner.Experiment, error) {
		return runner.Prepare(o.Backend, draw(rng{rand.New(random)}))
	}
	if o.Progress != nil {
		o.Progress("late holders", size.Repetitions, 0)
	}
	e, err := rare.Probability(ctx, worlds, checker.Section, size, func(p rare.Progress) {
		if o.Progress != nil {
			o.Progress("late holders", size.Repetitions, p.Populations)
		}
	})
	if err == nil {
		err = ctx.Err()
	}
	return LateHolders{
		Hold: hold, Reckoned: m.late.beyond(hold+w.NodeTimeout+m.asking, w.slack(hold)),
		Estimated: e.Probability, Low: e.Low, High: e.High, Runs: e.Runs, Doubts: e.Doubts,
	}, err
}

// lateHolds returns a function that draws scenarios with a holder that is paused as stated, and a rival
// that asks all the time from shortly before the lease can end. Only the pauses are drawn: messages take
// what 99 of 100 take at most, as in the model, and retry delays are constant. Otherwise most moves of
// the estimate would change what does not matter.
func (m *model) lateHolds(s Setting, hold time.Duration) func(rng) scenarios.Scenario {
	late := slip{Setting: s, pauses: m.Pauses, lengths: m.tables.pause, longest: hold}
	all := m.slips(late, newRNG(0))
	all.Name, all.Summary = "tune-late-holder", "a holder is paused as stated"
	all.Clients[0].Work = exactly(hold)
	all.Clients[1].Start = exactly(m.nearEnd(s.TTL))
	trip := exactly(quantile(m.RoundTrip, 0.99))
	all.Latency, all.GuardLatency = nemesis.Distribution{Range: trip}, &nemesis.Distribution{Range: exactly(trip.Max / 2)}
	all.Lock.Retry = exactly(all.Lock.Retry.Max)
	all.Horizon = 10*(hold+s.TTL) + maxFaults*longest(*m.Pauses.Length)
	rates := m.rates(1)
	return func(d rng) scenarios.Scenario {
		one := all
		one.Plan = slices.Concat(rates, late.plan(d, hold))
		return one
	}
}
