package fuzz_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/fuzz"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/runner/simulated"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

var promiseRuns = flag.Int("runs", 400, "how many runs the promises of each kind of lock are tried in; the campaign's are twenty thousand")

// mixed is a ground of others: each run takes place on one of them.
type mixed struct {
	name string
	all  []fuzz.SearchSpace
}

func (m mixed) Name() string { return m.name }

func (m mixed) Draw(random *rand.Rand) scenarios.Scenario {
	return m.all[random.IntN(len(m.all))].Draw(random)
}

// groundOf returns the ground of a kind of lock: its own in half of the runs, and
// otherwise wherever it stands in the debate and in the comparison.
func groundOf(t *testing.T, kind string) fuzz.SearchSpace {
	t.Helper()
	own, err := fuzz.SpaceOfLock(kind)
	if err != nil {
		t.Fatal(err)
	}
	known := mixed{name: kind}
	add := func(s scenarios.Scenario) {
		if s.Lock.Kind == kind {
			known.all = append(known.all, fuzz.SpaceAround(s))
		}
	}
	for _, s := range scenarios.All() {
		add(s)
	}
	for _, c := range scenarios.Contenders() {
		add(scenarios.Trials()[0].Enter(c))
	}
	return mixed{kind, []fuzz.SearchSpace{own, known}}
}

// seen is what many runs of a hunt amount to.
type seen struct {
	runs, contended, faults, grants int
	judged                          map[checker.Property]int // runs inside the assumptions that had something to judge
}

func (s *seen) add(h fuzz.Run) {
	s.runs++
	s.faults += len(h.Scenario.Plan)
	s.grants += h.Result.Report.Measurements.Grants
	if h.Contended {
		s.contended++
	}
	for p, a := range fuzz.PromisedTerms(h.Scenario) {
		if v := h.Result.Report.Finding(p).Verdict; v != checker.NotApplicable && a.Outside(h.Scenario) == nil {
			s.judged[p]++
		}
	}
}

func (s *seen) String() string {
	text := fmt.Sprintf("%d runs, %d with a fault that began while a client held what another wanted (%.1f %%), %d faults, %d grants; inside its assumptions and judged:",
		s.runs, s.contended, 100*float64(s.contended)/float64(s.runs), s.faults, s.grants)
	for _, p := range checker.Properties() {
		if s.judged[p] > 0 {
			text += fmt.Sprintf(" %s %d", p.Code(), s.judged[p])
		}
	}
	return text
}

// Law: no lock breaks what it promises inside the assumptions under which it promises
// it, whatever else happens. Otherwise the lock is broken, the promise too generous, a
// bound too tight, or the judge wrong.
func TestPromisesHold(t *testing.T) {
	kinds, _ := runner.Locks()
	for _, kind := range kinds {
		ground := groundOf(t, kind)
		if len(fuzz.PromisedTerms(ground.Draw(rand.New(rand.NewPCG(1, 1))))) == 0 {
			continue
		}
		t.Run(kind, func(t *testing.T) {
			all := seen{judged: map[checker.Property]int{}}
			for seed := uint64(1); all.runs < *promiseRuns; seed++ {
				err := fuzz.Hunt{
					Backend: simulated.Backend(), Ground: ground, Terms: fuzz.PromisedTerms, Most: 10, Seed: seed,
					Each: func(h fuzz.Run) bool {
						all.add(h)
						for _, p := range h.Broken {
							t.Errorf("%s breaks %s inside its assumptions (run %d of the hunt with seed %d, %s with seed %d): %s\n%v",
								kind, p.Title(), h.Number, seed, h.Scenario.Name, h.Candidate.Seed, h.Result.Report.Finding(p).Story(), h.Scenario.Plan)
						}
						return all.runs < *promiseRuns && h.Number < 100_000
					},
				}.Run(t.Context())
				if err != nil {
					t.Fatal(err)
				}
			}
			t.Log(all.String())
			if all.contended*4 < all.runs {
				t.Errorf("a fault began in a contended hold in %d of %d runs: silence says little", all.contended, all.runs)
			}
		})
	}
}

// And the same generators find what the assumptions rule out: Redlock promises lease
// exclusion as long as a node that forgets stays away for a TTL, and otherwise breaks it
// soon, by outages and bad networks alone.
func TestCrashRestartIsFoundWithoutTheDelay(t *testing.T) {
	kinds, _ := nemesis.Kinds()
	without := slices.DeleteFunc(kinds, func(k nemesis.Kind) bool {
		return slices.Contains([]nemesis.Kind{"crash", "power-loss", "shutdown", "partition", "split", "latency", "loss", "reset"}, k)
	})
	for _, delay := range []bool{true, false} {
		most, hunts := 5000, uint64(3) // runs of a hunt; some hundreds are enough
		if delay {
			most = *promiseRuns
		}
		var first []int
		for seed := uint64(1); seed <= hunts; seed++ {
			runs := 0
			err := fuzz.Hunt{
				Backend: simulated.Backend(), Ground: groundOf(t, "redlock"), Wanted: []checker.Property{checker.Lease}, Most: 10, Seed: seed,
				Terms: func(s scenarios.Scenario) fuzz.Terms {
					a := fuzz.PromisedTerms(s)[checker.Lease]
					a.Without = slices.Concat(a.Without, without)
					if !delay {
						a.RestartDelay = 0
					}
					return fuzz.Terms{checker.Lease: a}
				},
				Each: func(h fuzz.Run) bool {
					if runs = h.Number; len(h.Broken) > 0 {
						first = append(first, runs)
					}
					return len(h.Broken) == 0 && runs < most
				},
			}.Run(t.Context())
			if err != nil {
				t.Fatal(err)
			}
		}
		switch {
		case delay && len(first) > 0:
			t.Errorf("nodes that forget stay away for a TTL, and two hold one lock in runs %v", first)
		case !delay && len(first) == 0:
			t.Errorf("nodes that forget come back at once, and %d runs do not find two holders in any of %d hunts", most, hunts)
		default:
			t.Logf("with the delay: %v; first found in runs %v", delay, first)
		}
	}
}

// Nor do fences of a store grow whatever happens: who wakes up in its own past takes an
// entry for its own that is gone, and whose number is older than the last holder's.
func TestFencesOfAStoreNeedTheClock(t *testing.T) {
	const most = 2000 // runs of a hunt
	for _, kind := range []string{"etcd", "database-row"} {
		found := 0
		err := fuzz.Hunt{
			Backend: simulated.Backend(), Ground: groundOf(t, kind), Wanted: []checker.Property{checker.Fence},
			Terms: fuzz.AnyTerms, Faults: nemesis.Weights{"snapshot": 1}, Most: 6, Seed: 4,
			Each: func(h fuzz.Run) bool {
				if len(h.Broken) > 0 {
					found = h.Number
				}
				return found == 0 && h.Number < most
			},
		}.Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if found == 0 {
			t.Errorf("the clocks of clients stand still, and no fence of %s is out of order in %d runs", kind, most)
		}
	}
}
