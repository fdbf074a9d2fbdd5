package locktest_test

import (
	"slices"
	"testing"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/locktest"
	"github.com/lockstorm/lockstorm/results"
)

// Law: a survey fails nothing, whatever is found; it shows each run with its own seed, until it
// is told that there were enough, and a run that is worth it can be stored and run again.
func TestSurvey(t *testing.T) {
	c := locktest.Config{Nodes: 1, Runs: 20, Seed: 7, Promises: []checker.Property{checker.Lease}}
	c.Storms = []locktest.Storm{stormOf(t, c, "contention"), stormOf(t, c, "holder-stands-still")}
	seen := map[string][]uint64{}
	bad := func(env locktest.Env) locktest.Locker {
		l := onOneNode(env)
		l.twoSteps = true
		return l
	}
	locktest.Survey(t, c, bad, func(t *testing.T, s locktest.Seen) bool {
		seen[s.Scenario.Name] = append(seen[s.Scenario.Name], s.Seed)
		if paused := s.Scenario.Name == "holder-stands-still"; (s.Beyond(checker.Section) != nil) != paused {
			t.Errorf("V2 is beyond the plan: %v", s.Beyond(checker.Section))
		}
		if s.Report.Finding(checker.Lease).Verdict != checker.Violated {
			return true
		}
		dir, err := s.Keep(t.TempDir(), "broken")
		if err != nil {
			t.Fatal(err)
		}
		if stored, err := results.Load(dir); err != nil || stored.Seed != s.Seed || stored.Report.Finding(checker.Lease).Verdict != checker.Violated {
			t.Errorf("stored: seed %d, %v", stored.Seed, err)
		}
		if tally, err := s.Rerun(2); err != nil || tally.Runs != 2 {
			t.Errorf("re-runs: %d, %v", tally.Runs, err)
		}
		return false
	})
	for name, seeds := range seen {
		if want := []uint64{7, 8, 9, 10}; len(seeds) == 0 || !slices.Equal(seeds[:min(4, len(seeds))], want[:min(4, len(seeds))]) {
			t.Errorf("%s: seeds %v", name, seeds)
		}
	}
	if len(seen) != 2 || len(seen["contention"]) == c.Runs {
		t.Errorf("seen: %v", seen)
	}
}
