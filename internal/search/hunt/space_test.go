package hunt_test

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/promises"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/runner/simulated"
	"github.com/lockstorm/lockstorm/internal/search/hunt"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

func printedScenario(t *testing.T, s scenarios.Scenario) string {
	t.Helper()
	var text strings.Builder
	if err := s.Print(&text); err != nil {
		t.Fatal(err)
	}
	return text.String()
}

// Law: without faults a correct lock violates nothing in any drawn scenario, so no drawn bound
// is too tight. (Clients that look at no clock can still lose an update.)
func TestNoAlarmInTheCalm(t *testing.T) {
	const draws = 100
	for _, kind := range []string{"redlock", "single-node", "database-row", "advisory", "zookeeper", "etcd", "chubby", "fenced"} {
		g, err := hunt.SpaceOfLock(kind)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			seen := map[checker.Property]map[checker.Verdict]int{}
			for seed := range uint64(draws) {
				s := g.Draw(rand.New(rand.NewPCG(seed, 1)))
				if s.Plan != nil || s.Generate != nil || s.Expect != nil {
					t.Fatalf("seed %d: there is a plan, a generator, or something is expected", seed)
				}
				r, err := runner.Run(t.Context(), simulated.Backend(), s, seed, nil)
				if err != nil {
					t.Fatalf("seed %d: %v\n%s", seed, err, printedScenario(t, s))
				}
				for _, f := range r.Report.Findings {
					if seen[f.Property] == nil {
						seen[f.Property] = map[checker.Verdict]int{}
					}
					seen[f.Property][f.Verdict]++
					if f.Verdict == checker.Violated && f.Property != checker.Effect {
						t.Errorf("seed %d: %s\n%s", seed, f.Story(), printedScenario(t, s))
					}
				}
			}
			for _, p := range []checker.Property{checker.Lease, checker.Section, checker.Contract, checker.DeadlockFreedom} {
				if seen[p][checker.Holds]*20 < 3*draws {
					t.Errorf("%s is judged in too few of %d runs: %v", p.Title(), draws, seen[p])
				}
			}
		})
	}
}

// Law: the quarantine that a client begins with delays its first grant, and is no violation of L1.
func TestFirstQuarantineIsNoDelay(t *testing.T) {
	s, err := scenarios.Find("calm")
	if err != nil {
		t.Fatal(err)
	}
	s.Lock.Quarantine, s.Lock.Retry, s.Horizon = time.Minute, nemesis.Range{Max: time.Second}, 5*time.Minute
	s.Bounds = promises.Bounds(s)
	r, err := runner.Run(t.Context(), simulated.Backend(), s, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	if f := r.Report.Finding(checker.DeadlockFreedom); f.Verdict != checker.Holds || s.Bounds.Free == 0 {
		t.Errorf("%v with the bound %v: %s", f.Verdict, s.Bounds.Free, f.Story())
	}
}
