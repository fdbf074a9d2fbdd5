package hunt_test

import (
	"flag"
	"math/rand/v2"
	"testing"

	"github.com/lockstorm/lockstorm/internal/promises"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/runner/simulated"
	"github.com/lockstorm/lockstorm/internal/search/hunt"
	"github.com/lockstorm/lockstorm/scenarios"
)

var promiseRuns = flag.Int("runs", 200, "how many runs the promises of each kind of lock are tried in")

// mixed is a union of search spaces: each run draws from one of them.
type mixed struct {
	name string
	all  []hunt.SearchSpace
}

func (m mixed) Name() string { return m.name }

func (m mixed) Draw(random *rand.Rand) scenarios.Scenario {
	return m.all[random.IntN(len(m.all))].Draw(random)
}

// spaceOf returns the search space of a kind of lock: its own in half of the runs, and
// otherwise one around a scenario of the debate or the comparison.
func spaceOf(t *testing.T, kind string) hunt.SearchSpace {
	t.Helper()
	own, err := hunt.SpaceOfLock(kind)
	if err != nil {
		t.Fatal(err)
	}
	known := mixed{name: kind}
	add := func(s scenarios.Scenario) {
		if s.Lock.Kind == kind {
			known.all = append(known.all, hunt.SpaceAround(s))
		}
	}
	for _, s := range scenarios.All() {
		add(s)
	}
	for _, c := range scenarios.Contenders() {
		add(scenarios.Trials()[0].Enter(c))
	}
	return mixed{kind, []hunt.SearchSpace{own, known}}
}

// Law: no lock breaks a promise inside its assumptions, whatever else happens. Otherwise the
// lock is broken, the promise too generous, a bound too tight, or the checker wrong.
func TestPromisesHold(t *testing.T) {
	kinds, _ := runner.Locks()
	for _, kind := range kinds {
		ground := spaceOf(t, kind)
		if len(promises.Of(ground.Draw(rand.New(rand.NewPCG(1, 1))))) == 0 {
			continue
		}
		t.Run(kind, func(t *testing.T) {
			runs, contended := 0, 0
			for seed := uint64(1); runs < *promiseRuns; seed++ {
				err := hunt.Hunt{
					Backend: simulated.Backend(), Space: ground, Terms: promises.Of, MaxFaults: 10, Seed: seed,
					Each: func(h hunt.Run) bool {
						if runs++; h.Contended {
							contended++
						}
						for _, p := range h.Broken {
							t.Errorf("%s breaks %s inside its assumptions (run %d of the hunt with seed %d, %s with seed %d): %s\n%v",
								kind, p.Title(), h.Number, seed, h.Scenario.Name, h.Seed, h.Result.Report.Finding(p).Story(), h.Scenario.Plan)
						}
						return runs < *promiseRuns && h.Number < 100_000
					},
				}.Run(t.Context())
				if err != nil {
					t.Fatal(err)
				}
			}
			if contended*4 < runs {
				t.Errorf("a fault began in a contended hold in %d of %d runs: silence says little", contended, runs)
			}
		})
	}
}
