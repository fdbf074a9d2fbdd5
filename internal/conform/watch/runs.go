package watch

import (
	"context"
	"slices"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/promises"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/runner/simulated"
	"github.com/lockstorm/lockstorm/internal/search/explore"
	"github.com/lockstorm/lockstorm/internal/search/hunt"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// lock is the kind of the lock that the specification is about.
const lock = "redlock"

// rows returns the named scenarios with that lock.
func rows() (all []scenarios.Scenario) {
	for _, s := range scenarios.All() {
		if s.Lock.Kind == lock {
			all = append(all, s)
		}
	}
	return all
}

// Rows makes runs of every row, with the seeds from 1 on.
func (t *Tally) Rows(ctx context.Context, seeds int) error {
	for _, s := range rows() {
		e, err := runner.Prepare(simulated.Backend(), s)
		if err != nil {
			return err
		}
		for seed := 1; seed <= seeds; seed++ {
			if _, err := t.Watch(seed, e).RunWhole(ctx, uint64(seed)); err != nil {
				return err
			}
		}
	}
	return nil
}

// Hunt makes runs of a hunt for violations of lease exclusion, those with the numbers from before+1 on, up to the
// first mismatch.
func (t *Tally) Hunt(ctx context.Context, before, runs int) error {
	space, err := hunt.SpaceOfLock(lock)
	if err != nil {
		return err
	}
	return hunt.Hunt{
		Backend: simulated.Backend(), Space: space, Terms: promises.Of, Wanted: []checker.Property{checker.Lease},
		Faults: nemesis.Weights{nemesis.AllKinds: 1, "pause": 4, "latency": 2, "partition": 2}, MaxFaults: 6,
		Seed: 1, Before: before, Runs: runs,
		Watched: t.Watch,
		Each:    func(r hunt.Run) bool { return t.First(r.Number) == nil },
	}.Run(ctx)
}

// SmallWorlds explores the small world of each row, or of those that are named, with every choice of its faults
// and up to one deviation: so many executions of each choice at most, 0: all. They have the number of the row.
func (t *Tally) SmallWorlds(ctx context.Context, executions, workers int, named ...string) error {
	for i, s := range rows() {
		if len(named) > 0 && !slices.Contains(named, s.Name) {
			continue
		}
		part, err := explore.SmallestPart(ctx, s)
		if err != nil {
			return err
		}
		small, err := part.Of(s)
		if err != nil {
			return err
		}
		b := explore.Bounds{
			Latencies: explore.DefaultLatencies, Draws: explore.DefaultDraws, Deviations: explore.DefaultDeviations, Faults: len(small.Plan),
		}
		l := explore.Limits{
			Executions: executions, Workers: workers,
			Watched: func(e runner.Experiment) runner.Experiment { return t.Watch(i+1, e) },
		}
		if _, err := explore.Explore(ctx, small, b, l, []checker.Property{checker.Lease}, nil); err != nil {
			return err
		}
	}
	return nil
}
