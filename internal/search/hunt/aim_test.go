package hunt_test

import (
	"testing"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/promises"
	"github.com/lockstorm/lockstorm/internal/runner/simulated"
	"github.com/lockstorm/lockstorm/internal/search/hunt"
)

// Law: of the runs of a hunt for one property, most could have broken its promise.
func TestRunsAreAimed(t *testing.T) {
	const runs = 60
	space, err := hunt.SpaceOfLock("redlock")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range checker.Properties() {
		tested := 0
		h := hunt.Hunt{Backend: simulated.Backend(), Space: space, Terms: promises.Of, Wanted: []checker.Property{p}, MaxFaults: 6, Seed: 1, Runs: runs}
		h.Each = func(r hunt.Run) bool {
			tested += len(r.Tested)
			return true
		}
		if err := h.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if 2*tested < runs {
			t.Errorf("%s could have been violated in %d of %d runs", p.Title(), tested, runs)
		}
	}
}
