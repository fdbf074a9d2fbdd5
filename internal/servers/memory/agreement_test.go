package memory_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/servers/memory"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// backend returns this backend for the runner.
func backend() runner.Backend {
	var b memory.Backend
	return runner.Backend{
		Ability: b.Ability(),
		Keys:    b.Keys(),
		Open:    runner.Opener(b.Open),
	}
}

// agreeing are rows of the debate: every kind of fault that this backend supports and a row
// has, both rows that break a lock and rows that it survives.
var agreeing = []string{
	"minority-partition", "minority-partition-one-way", "majority-partition-bridge",
	"crash-restart", "short-restart", "delayed-restart", "delayed-restart-jump", "majority-crash", "clean-shutdown",
	"evicted-key", "aof-everysec", "aof-always", "node-pause", "node-clock-jump", "node-clock-back", "frozen-clock",
	"frozen-clock-thaws", "leap-second-stepped", "client-suspend", "client-suspend-counted", "client-suspend-snapshot",
	"client-wall-step-forward", "pause-before-step-3", "pause-after-step-3", "pause-then-write", "delayed-write",
	"fenced-write", "fence-increment", "fence-one-node-lost", "quarantine", "watchdog-cut-off",
}

// Law: the lock over go-redis and miniredis in virtual time has the verdicts that the
// debate expects, as in the simulator.
func TestVerdictsAgreeWithTheDebate(t *testing.T) {
	const runs = 3
	for _, name := range agreeing {
		s, err := scenarios.Find(name)
		if err != nil {
			t.Fatal(err)
		}
		e, err := runner.Prepare(backend(), s)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(name, func(t *testing.T) {
			tally := runner.NewTally(e.Scenario())
			for seed := uint64(1); seed <= runs; seed++ {
				synctest.Test(t, func(t *testing.T) {
					result, err := e.Run(t.Context(), seed, nil)
					if err != nil {
						t.Fatal(err)
					}
					tally.Add(result)
				})
			}
			if got := tally.Conclusion(); got != runner.AsExpected {
				t.Errorf("%d runs: %v; what was seen is %v, what is expected %v", runs, got, tally.Seen, tally.Scenario.Expect)
			}
		})
	}
}

// Law: a world in a bubble ends without an error and without goroutines left, for any
// faults and any seed.
func TestPlansAtRandom(t *testing.T) {
	s, err := scenarios.Find("calm")
	if err != nil {
		t.Fatal(err)
	}
	s.Generate = &nemesis.Generator{Most: 8}
	s.Nodes, s.Expect, s.Horizon = 3, nil, time.Second
	e, err := runner.Prepare(backend(), s)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[nemesis.Kind]bool{}
	for seed := uint64(1); seed <= 40; seed++ {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			result, err := e.Run(t.Context(), seed, nil)
			if err != nil {
				t.Errorf("seed %d: %v", seed, err)
			}
			if took := time.Since(began); took > s.Horizon {
				t.Errorf("seed %d: it took %v", seed, took)
			}
			if result.SchedulingLag != 0 {
				t.Errorf("seed %d: virtual time was late by %v", seed, result.SchedulingLag)
			}
			for _, f := range result.Plan {
				seen[f.Action.Kind()] = true
			}
		})
	}
	for _, kind := range (memory.Backend{}).Ability().Kinds {
		if !seen[kind] {
			t.Errorf("no plan had a fault of kind %s", kind)
		}
	}
}
