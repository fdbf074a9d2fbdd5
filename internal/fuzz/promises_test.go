package fuzz_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/fuzz"
	"github.com/lockstorm/lockstorm/internal/promises"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/runner/simulated"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

var promiseRuns = flag.Int("runs", 400, "how many runs the promises of each kind of lock are tried in; the campaign's are twenty thousand")

// mixed is a union of search spaces: each run draws from one of them.
type mixed struct {
	name string
	all  []fuzz.SearchSpace
}

func (m mixed) Name() string { return m.name }

func (m mixed) Draw(random *rand.Rand) scenarios.Scenario {
	return m.all[random.IntN(len(m.all))].Draw(random)
}

// spaceOf returns the search space of a kind of lock: its own in half of the runs, and
// otherwise one around a scenario of the debate or the comparison.
func spaceOf(t *testing.T, kind string) fuzz.SearchSpace {
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

// seen is the totals of many runs of a hunt.
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
	for p, a := range promises.Of(h.Scenario) {
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
			all := seen{judged: map[checker.Property]int{}}
			for seed := uint64(1); all.runs < *promiseRuns; seed++ {
				err := fuzz.Hunt{
					Backend: simulated.Backend(), Space: ground, Terms: promises.Of, MaxFaults: 10, Seed: seed,
					Each: func(h fuzz.Run) bool {
						all.add(h)
						for _, p := range h.Broken {
							t.Errorf("%s breaks %s inside its assumptions (run %d of the hunt with seed %d, %s with seed %d): %s\n%v",
								kind, p.Title(), h.Number, seed, h.Scenario.Name, h.Seed, h.Result.Report.Finding(p).Story(), h.Scenario.Plan)
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

// The same generators find what the assumptions exclude: Redlock promises lease exclusion as
// long as a node that forgets stays away for a TTL. Without that it is soon violated, by
// outages and network faults alone.
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
				Backend: simulated.Backend(), Space: spaceOf(t, "redlock"), Wanted: []checker.Property{checker.Lease}, MaxFaults: 10, Seed: seed,
				Terms: func(s scenarios.Scenario) promises.Terms {
					a := promises.Of(s)[checker.Lease]
					a.Without = slices.Concat(a.Without, without)
					if !delay {
						a.RestartDelay = 0
					}
					return promises.Terms{checker.Lease: a}
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

// Fences of a store can go back, too: a client that resumes from a snapshot takes a deleted
// entry for its own, whose number is older than the last holder's.
func TestFencesOfAStoreNeedTheClock(t *testing.T) {
	const most = 2000 // runs of a hunt
	for _, kind := range []string{"etcd", "database-row"} {
		found := 0
		err := fuzz.Hunt{
			Backend: simulated.Backend(), Space: spaceOf(t, kind), Wanted: []checker.Property{checker.Fence},
			Terms: promises.Unconditional, Faults: nemesis.Weights{"snapshot": 1}, MaxFaults: 6, Seed: 4,
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
