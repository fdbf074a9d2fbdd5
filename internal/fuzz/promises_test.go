package fuzz_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/guard"
	"github.com/lockstorm/lockstorm/internal/fuzz"
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

// Law: no lock breaks a promise inside its assumptions, whatever else happens. Otherwise the
// lock is broken, the promise too generous, a bound too tight, or the checker wrong.
func TestPromisesHold(t *testing.T) {
	kinds, _ := runner.Locks()
	for _, kind := range kinds {
		ground := spaceOf(t, kind)
		if len(fuzz.PromisedTerms(ground.Draw(rand.New(rand.NewPCG(1, 1))))) == 0 {
			continue
		}
		t.Run(kind, func(t *testing.T) {
			all := seen{judged: map[checker.Property]int{}}
			for seed := uint64(1); all.runs < *promiseRuns; seed++ {
				err := fuzz.Hunt{
					Backend: simulated.Backend(), Space: ground, Terms: fuzz.PromisedTerms, MaxFaults: 10, Seed: seed,
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

// Fences of a store can go back, too: a client that resumes from a snapshot takes a deleted
// entry for its own, whose number is older than the last holder's.
func TestFencesOfAStoreNeedTheClock(t *testing.T) {
	const most = 2000 // runs of a hunt
	for _, kind := range []string{"etcd", "database-row"} {
		found := 0
		err := fuzz.Hunt{
			Backend: simulated.Backend(), Space: spaceOf(t, kind), Wanted: []checker.Property{checker.Fence},
			Terms: fuzz.AnyTerms, Faults: nemesis.Weights{"snapshot": 1}, MaxFaults: 6, Seed: 4,
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

// Law: no lock promises anything with clones, whose tokens are the same. A resource that
// checks its own fences does, and none that checks tokens. If tokens are times, clones have
// different ones; but they draw the same retry delays.
func TestNoLockPromisesAnythingOfClones(t *testing.T) {
	for _, s := range deployed(t) {
		noPromiseOfClones(t, s)
		if s.Lock.Kind == "redlock" || s.Lock.Kind == "single-node" {
			s.Lock.Tokens = "time"
			noPromiseOfClones(t, s)
		}
	}
}

func noPromiseOfClones(t *testing.T, s scenarios.Scenario) {
	s.Plan = nemesis.Plan{cloned}
	for _, g := range []guard.Mode{s.Guard, guard.Token} {
		s.Guard = g
		for p, a := range fuzz.PromisedTerms(s) {
			want := p == checker.Effect && g == guard.Fenced && s.Lock.Fence == "" && s.Store == nil
			if s.Lock.Tokens == "time" && (p == checker.Cleanup || p == checker.Contract || p == checker.FaultTolerance) {
				want = true
			}
			if inside := a.Outside(s) == nil; inside != want {
				t.Errorf("%s with tokens %q, whose resource is %s: a clone inside the assumptions of %s: %t, want %t", s.Lock.Kind, s.Lock.Tokens, g, p.Title(), inside, want)
			}
		}
	}
}

var cloned = nemesis.Fault{Action: &nemesis.Clone{}, Start: nemesis.At(0)}

// Law: an unknown lock promises no more than Redlock, and in these plans as much, except that
// clocks are perfect, and that a lock without an end of validity need not read a clock.
func TestExternalTerms(t *testing.T) {
	after := nemesis.After
	pause := nemesis.Fault{Action: &nemesis.Pause{Client: 1}, End: after(time.Minute)}
	for name, c := range map[string]struct {
		fault    nemesis.Fault
		endless  bool
		property checker.Property
		excused  bool
	}{
		"pause, V1":             {pause, false, checker.Lease, false},
		"pause, V1 without end": {pause, true, checker.Lease, true},
		"pause, V2":             {pause, false, checker.Section, true},
		"pause, V3":             {pause, false, checker.Effect, true},
		"pause, L1":             {pause, false, checker.DeadlockFreedom, false},
		"back soon, V1":         {nemesis.Fault{Action: &nemesis.Crash{Node: 1}, End: after(time.Millisecond)}, false, checker.Lease, true},
		"back late, V1":         {nemesis.Fault{Action: &nemesis.Crash{Node: 1}, End: after(time.Hour)}, false, checker.Lease, false},
		"back late, V4":         {nemesis.Fault{Action: &nemesis.Crash{Node: 1}, End: after(time.Hour)}, false, checker.Fence, true},
		"a clock, V1":           {nemesis.Fault{Action: &nemesis.ClockJump{Machine: nemesis.Machine{Node: 1}, By: 1}}, false, checker.Lease, true},
		"a rate, V1":            {nemesis.Fault{Action: &nemesis.ClockRate{Machine: nemesis.Machine{Node: 1}, PPM: 1}}, false, checker.Lease, true},
		"slow for ever, L1":     {nemesis.Fault{Action: &nemesis.Latency{}}, false, checker.DeadlockFreedom, true},
		"slow for ever, C":      {nemesis.Fault{Action: &nemesis.Latency{}}, false, checker.Contract, false},
		"slow for ever, V1":     {nemesis.Fault{Action: &nemesis.Latency{}}, false, checker.Lease, false},
	} {
		s, err := scenarios.Find("calm")
		if err != nil {
			t.Fatal(err)
		}
		s.Plan = nemesis.Plan{c.fault}
		if why := fuzz.ExternalTerms(s, c.endless).Excuse(c.property, s); (why != nil) != c.excused {
			t.Errorf("%s: excused by: %v", name, why)
		}
		if !c.endless && !c.excused && fuzz.PromisedTerms(s).Excuse(c.property, s) != nil {
			t.Errorf("%s: not even Redlock promises that", name)
		}
	}
}

// Law: in a store nobody comes back without what it has acknowledged, so that an outage excuses
// nothing; unless a new leader can lack changes.
func TestExternalTermsInAStore(t *testing.T) {
	crash := nemesis.Fault{Action: &nemesis.Crash{Node: 1}, End: nemesis.After(time.Millisecond)}
	for _, property := range []checker.Property{checker.Lease, checker.Section, checker.Fence} {
		for asynchronous, excused := range map[bool]bool{false: false, true: true} {
			s, err := scenarios.Find("calm")
			if err != nil {
				t.Fatal(err)
			}
			s.Store, s.Persistence = &nemesis.Store{Asynchronous: asynchronous}, nemesis.Always
			s.Plan = nemesis.Plan{crash}
			if why := fuzz.ExternalTerms(s, false).Excuse(property, s); (why != nil) != excused {
				t.Errorf("%s, asynchronous: %v: excused by: %v", property, asynchronous, why)
			}
		}
	}
}

// A holder is warned in time if the clock that the lock reads is right. That is assumed if a
// bound of notice is stated, and only for the contract.
func TestNoticeAssumesAClockThatCounts(t *testing.T) {
	client := nemesis.Machine{Client: 1}
	fault := func(a nemesis.Action) nemesis.Fault {
		return nemesis.Fault{Action: a, Start: nemesis.At(0), End: nemesis.After(time.Second)}
	}
	row := func(clock env.Clock, notice time.Duration, f nemesis.Fault) scenarios.Scenario {
		s, err := scenarios.Find("calm")
		if err != nil {
			t.Fatal(err)
		}
		s.Lock.Clock, s.Bounds.Notice, s.Plan = clock.String(), notice, nemesis.Plan{f}
		return s
	}
	suspended := fault(&nemesis.Suspend{Client: 1})
	stepped := nemesis.Fault{Action: &nemesis.ClockJump{Machine: client, By: -time.Second}, Start: nemesis.At(0)}
	for name, c := range map[string]struct {
		s        scenarios.Scenario
		promised bool
	}{
		"a clock that sleeps":              {row(env.Monotonic, 100*time.Millisecond, suspended), false},
		"one that does not":                {row(env.Boottime, 100*time.Millisecond, suspended), true},
		"without a bound":                  {row(env.Monotonic, 0, suspended), true},
		"a slow clock, inside":             {row(env.Monotonic, 100*time.Millisecond, fault(&nemesis.ClockRate{Machine: client, PPM: -6_000})), true},
		"a slow clock, outside":            {row(env.Monotonic, 100*time.Millisecond, fault(&nemesis.ClockRate{Machine: client, PPM: -7_000})), false},
		"a step of the clock that is read": {row(env.Wall, 100*time.Millisecond, stepped), false},
		"a step of another":                {row(env.Monotonic, 100*time.Millisecond, stepped), true},
		"a pause":                          {row(env.Monotonic, 100*time.Millisecond, fault(&nemesis.Pause{Client: 1})), true},
		"a node that restarts at once":     {row(env.Monotonic, 100*time.Millisecond, fault(&nemesis.Crash{Node: 1})), true},
	} {
		if excuse := fuzz.PromisedTerms(c.s).Excuse(checker.Contract, c.s); (excuse == nil) != c.promised {
			t.Errorf("%s: promised %v, want %v (%v)", name, excuse == nil, c.promised, excuse)
		}
	}
}
