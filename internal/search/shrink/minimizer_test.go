package shrink_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/promises"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/runner/simulated"
	"github.com/lockstorm/lockstorm/internal/search/hunt"
	"github.com/lockstorm/lockstorm/internal/search/shrink"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// plain reduces findings without the search for the shortest run.
var plain = shrink.Minimizer{Backend: simulated.Backend(), Terms: promises.Unconditional, Promised: promises.Of}

// crash is crash-restart with an additional fault without effect, as a hunt would find it.
func crash(t *testing.T) hunt.Run {
	t.Helper()
	s, err := scenarios.Find("crash-restart")
	if err != nil {
		t.Fatal(err)
	}
	s.Expect = nil
	s.Plan = append(s.Plan[:len(s.Plan):len(s.Plan)], nemesis.Fault{Action: &nemesis.ScriptFlush{Node: 1}, Start: nemesis.At(s.Horizon / 2)})
	r, err := runner.Run(t.Context(), simulated.Backend(), s, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	return hunt.Run{Number: 7, Result: r, Broken: []checker.Property{checker.Lease}}
}

// Law: a reduced run is smaller, violates the same property, and is the run of its scenario
// and seed.
func TestMinimizedRunsAreSmallerAndShowTheSame(t *testing.T) {
	found := crash(t)
	got := minimized(t, plain, checker.Lease, found)
	if shrink.ExtentOf(got.Small.Executed()).Faults >= len(found.Scenario.Plan) {
		t.Errorf("it is not smaller: %v", got.Small.Plan)
	}
	again, err := runner.Run(t.Context(), simulated.Backend(), got.Small.Executed(), got.Small.Seed, nil)
	if err != nil {
		t.Fatal(err)
	}
	if again.TraceHash != got.Small.TraceHash || again.Report.Finding(checker.Lease).Verdict != checker.Violated {
		t.Errorf("run again it shows %v", again.Report.Verdicts())
	}
}

// Law: a violation of a promised property inside its assumptions is a defect, and stays one
// when reduced. Any other is a limit, with a reason.
func TestDefectsAndLimits(t *testing.T) {
	for name, c := range map[string]struct {
		promised func(scenarios.Scenario) promises.Terms
		excused  bool // otherwise it is a defect
	}{
		"what the lock promises": {promises.Of, true}, // it assumes that no node forgets
		"everything":             {promises.Unconditional, false},
		"nothing":                {func(scenarios.Scenario) promises.Terms { return nil }, true},
	} {
		minimizer := shrink.Minimizer{Backend: simulated.Backend(), Terms: promises.Unconditional, Promised: c.promised}
		got := minimized(t, minimizer, checker.Lease, crash(t))
		if (got.Excuse != nil) != c.excused || errors.Is(got.Excuse, promises.ErrNotPromised) != (name == "nothing") {
			t.Errorf("if %s is promised, it is excused by %v", name, got.Excuse)
		}
	}
}

// Law: updates lost by an eviction are not blamed on clients that work for longer than their
// leases, although these do and no fault would be smaller. They are only if no leases overlap.
func TestMinimizingKeepsTheCause(t *testing.T) {
	s, err := scenarios.Find("evicted-key")
	if err != nil {
		t.Fatal(err)
	}
	s.Expect, s.Clients = nil, slices.Clone(s.Clients)
	for i := range s.Clients {
		s.Clients[i].Work = nemesis.Range{Min: 2 * s.Lock.TTL, Max: 2 * s.Lock.TTL}
	}
	for lease, plan := range map[checker.Verdict]nemesis.Plan{checker.Violated: s.Plan, checker.Holds: s.Plan[1:]} {
		s.Plan = plan
		run := byItself(t, s, checker.Effect)
		if got := run.Result.Report.Finding(checker.Lease).Verdict; got != lease {
			t.Fatalf("with %v lease exclusion is %v: want %v", plan, got, lease)
		}
		want := map[checker.Verdict]string{checker.Violated: "evict", checker.Holds: "no fault"}[lease]
		if got := blamed(minimized(t, minimizer, checker.Effect, run).Small.Executed()); got != want {
			t.Errorf("%v is shrunk to %s: want %s", plan, got, want)
		}
	}
}

// Law: a reduced scenario has no bound that a correct lock could not keep with its settings:
// with node timeouts below a round trip any lock is late.
func TestMinimizingKeepsBoundsAchievable(t *testing.T) {
	bound := 0
	for _, lock := range []string{"check-then-set", "setnx-then-expire", "etcd-unchecked"} {
		ground, err := hunt.SpaceOfLock(lock)
		if err != nil {
			t.Fatal(err)
		}
		h := hunt.Hunt{
			Backend: simulated.Backend(), Space: ground, Terms: promises.Unconditional,
			Wanted: []checker.Property{checker.DeadlockFreedom, checker.FaultTolerance, checker.Cleanup, checker.Contract},
			Faults: nemesis.Weights{nemesis.AllKinds: 1}, MaxFaults: 6, Seed: 1,
		}
		var found hunt.Run
		h.Each = func(s hunt.Run) bool {
			found = s
			return len(s.Broken) == 0 && s.Number < 1000
		}
		if err := h.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if len(found.Broken) == 0 {
			continue
		}
		got := minimized(t, plain, found.Broken[0], found)
		before, after := promises.Achievable(found.Scenario), promises.Achievable(got.Small.Executed())
		for _, b := range before {
			bound++
			if !slices.Contains(after, b) {
				t.Errorf("%s, %v: the bound of %s cannot be kept any more:\n%+v", lock, found.Broken, b, got.Small.Executed().Lock)
			}
		}
	}
	if bound == 0 {
		t.Error("nothing was found that is bound by anything")
	}
}
