package memory_test

import (
	"testing"
	"testing/synctest"

	"github.com/lockstorm/lockstorm/cluster/memory"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
	"github.com/lockstorm/lockstorm/storm"
)

// backend is this backend as storm knows one.
func backend() storm.Backend {
	var b memory.Backend
	return storm.Backend{
		Ability: nemesis.Ability{Name: b.Name(), Kinds: b.Faults(), Features: b.Features()},
		Open:    storm.Opener(b.Open),
	}
}

// agreeing are rows of the debate in which every kind of fault of this backend is that a row
// has, and of those that break a lock and those that it survives some of each.
var agreeing = []string{
	"minority-partition", "minority-partition-one-way", "majority-partition-bridge", "partition-after-acquire",
	"crash-restart", "short-restart", "delayed-restart", "delayed-restart-jump", "majority-crash", "clean-shutdown",
	"evicted-key", "node-pause", "node-clock-jump", "node-clock-back", "node-clock-back-orphan", "frozen-clock",
	"frozen-clock-thaws", "leap-second-stepped", "client-suspend", "client-suspend-counted", "client-suspend-snapshot",
	"client-wall-step-forward", "pause-before-step-3", "pause-after-step-3", "pause-then-write", "delayed-write",
	"fenced-write", "fence-increment", "fence-one-node-lost", "quarantine", "watchdog-cut-off",
}

// Law: our lock, over go-redis and miniredis in virtual time, shows what the debate expects of
// it, as in the simulator.
func TestVerdictsAgreeWithTheDebate(t *testing.T) {
	const runs = 3
	for _, name := range agreeing {
		s, err := scenarios.Find(name)
		if err != nil {
			t.Fatal(err)
		}
		e, err := storm.Prepare(backend(), s)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(name, func(t *testing.T) {
			tally := storm.NewTally(e.Scenario())
			for seed := uint64(1); seed <= runs; seed++ {
				synctest.Test(t, func(t *testing.T) {
					result, err := e.Run(t.Context(), seed, nil)
					if err != nil {
						t.Fatal(err)
					}
					tally.Add(result)
				})
			}
			if got := tally.Conclusion(); got != storm.AsExpected {
				t.Errorf("%d runs: %v; what was seen is %v, what is expected %v", runs, got, tally.Seen, tally.Scenario.Expect)
			}
		})
	}
}
