package fuzz_test

import (
	"testing"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/fuzz"
	"github.com/lockstorm/lockstorm/internal/runner/simulated"
	"github.com/lockstorm/lockstorm/scenarios"
)

func TestFindsCrashRestart(t *testing.T) {
	s, err := scenarios.Find("crash-restart")
	if err != nil {
		t.Fatal(err)
	}
	for seed := uint64(1); seed <= 3; seed++ {
		var found fuzz.Run
		err := fuzz.Hunt{
			Backend: simulated.Backend(), Ground: fuzz.SpaceAround(s), Terms: fuzz.AnyTerms,
			Wanted: []checker.Property{checker.Lease}, Most: 6, Seed: seed,
			Each: func(s fuzz.Run) bool {
				if len(s.Broken) > 0 {
					found = s
				}
				return len(s.Broken) == 0 && s.Number < 10_000
			},
		}.Run(t.Context())
		if err != nil || len(found.Broken) == 0 {
			t.Fatal("nothing found", err)
		}
		t.Logf("run %d: %v", found.Number, found.Scenario.Plan)
	}
}
