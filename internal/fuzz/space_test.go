package fuzz_test

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/fuzz"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/runner/simulated"
	"github.com/lockstorm/lockstorm/scenarios"
)

// spaces returns the search spaces of all locks.
func spaces(t *testing.T) (all []fuzz.SearchSpace) {
	t.Helper()
	list, _ := runner.Locks()
	for _, kind := range list {
		g, err := fuzz.SpaceOfLock(kind)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, g)
	}
	return all
}

// Law: any scenario that a search space draws can be run, has no plan and no expectations, and
// the same randomness draws it again.
func TestWhatIsDrawnCanBeRun(t *testing.T) {
	for _, g := range spaces(t) {
		t.Run(g.Name(), func(t *testing.T) {
			t.Parallel()
			for seed := range uint64(200) {
				s := g.Draw(rand.New(rand.NewPCG(seed, 0)))
				if _, err := runner.Prepare(simulated.Backend(), s); err != nil {
					t.Fatalf("seed %d: %v\n%s", seed, err, printedScenario(t, s))
				}
				if s.Plan != nil || s.Generate != nil || s.Expect != nil {
					t.Fatalf("seed %d: there is a plan, a generator, or something is expected", seed)
				}
			}
		})
	}
}

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
		g, err := fuzz.SpaceOfLock(kind)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			seen := map[checker.Property]map[checker.Verdict]int{}
			for seed := range uint64(draws) {
				s := g.Draw(rand.New(rand.NewPCG(seed, 1)))
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

// Law: a scenario drawn around another can be run, has its lock and its world, and in half of
// the draws its clients. Other clients violate nothing either without faults.
func TestAroundAScenario(t *testing.T) {
	for _, s := range scenarios.Every() {
		if s.Lock.Kind != "redlock" || s.Lock.Fence == "increment" {
			continue // of which there are more than enough, and which do not grow by themselves
		}
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			g, own := fuzz.SpaceAround(s), 0
			for seed := range uint64(16) {
				drawn := g.Draw(rand.New(rand.NewPCG(seed, 2)))
				if !reflect.DeepEqual(drawn.Lock, s.Lock) || drawn.Nodes != s.Nodes || drawn.Plan != nil {
					t.Fatalf("seed %d: another lock, another world, or a plan\n%s", seed, printedScenario(t, drawn))
				}
				if alike(drawn.Clients, s.Clients) {
					own++
				}
				if reflect.DeepEqual(drawn.Clients, s.Clients) {
					continue
				}
				r, err := runner.Run(t.Context(), simulated.Backend(), drawn, seed, nil)
				if err != nil {
					t.Fatalf("seed %d: %v\n%s", seed, err, printedScenario(t, drawn))
				}
				for _, f := range r.Report.Findings {
					if f.Verdict == checker.Violated && f.Property != checker.Effect {
						t.Errorf("seed %d: %s\n%s", seed, f.Story(), printedScenario(t, drawn))
					}
				}
			}
			if own == 0 || own == 16 {
				t.Errorf("%d of 16 draws have the scenario's own clients, want about half", own)
			}
		})
	}
}

// alike reports whether clients differ only in when they start.
func alike(a, b []scenarios.Client) bool {
	return slices.EqualFunc(a, b, func(x, y scenarios.Client) bool {
		x.Start = y.Start
		return x == y
	})
}
