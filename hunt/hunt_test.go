package hunt_test

import (
	"testing"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/hunt"
	"github.com/lockstorm/lockstorm/hunt/assume"
	"github.com/lockstorm/lockstorm/scenarios"
	"github.com/lockstorm/lockstorm/storm/simulated"
)

func TestFindsCrashRestart(t *testing.T) {
	s, err := scenarios.Find("crash-restart")
	if err != nil {
		t.Fatal(err)
	}
	for seed := uint64(1); seed <= 3; seed++ {
		var found hunt.Shot
		err := hunt.Hunt{
			Backend: simulated.Backend(), Ground: hunt.Around(s), Terms: assume.Anything,
			Wanted: []checker.Property{checker.Lease}, Most: 6, Seed: seed,
			Each: func(s hunt.Shot) bool {
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
