package fuzz_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/lockstorm/lockstorm/internal/fuzz"
	"github.com/lockstorm/lockstorm/internal/hostiletest"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/runner/simulated"
	"github.com/lockstorm/lockstorm/nemesis"
)

// Law: around whatever scenario can be run a hunt can go: it ends without an error, and no
// run of it has more events than a million and some. (Where nothing takes time it divided by
// zero; where it estimated too many tries it made retries of a negative time.)
func TestHuntsAroundHostileScenariosAreBounded(t *testing.T) {
	hunted := 0
	rapid.Check(t, func(t *rapid.T) {
		s := hostiletest.Draw(t)
		s.MaxEvents = 2_000
		if _, err := runner.Prepare(simulated.Backend(), s); err != nil {
			return
		}
		h := fuzz.Hunt{
			Backend: simulated.Backend(), Ground: fuzz.SpaceAround(s), Terms: fuzz.AnyTerms,
			Faults: nemesis.Weights{nemesis.AllKinds: 1}, Most: 3, Seed: rapid.Uint64Range(1, 100).Draw(t, "seed"),
		}
		h.Each = func(shot fuzz.Run) bool {
			if shot.Result.Events > 2*s.MaxEvents {
				t.Fatalf("%d events: %s", shot.Result.Events, hostiletest.Describe(s))
			}
			return shot.Number < 3
		}
		if err := h.Validate(); err != nil {
			return
		}
		if err := h.Run(t.Context()); err != nil {
			t.Fatalf("%v: %s", err, hostiletest.Describe(s))
		}
		hunted++
	})
	if hunted == 0 {
		t.Error("no hunt was made")
	}
}
