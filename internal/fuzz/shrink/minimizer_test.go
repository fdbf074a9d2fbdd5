package shrink_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/fuzz"
	"github.com/lockstorm/lockstorm/internal/fuzz/shrink"
	"github.com/lockstorm/lockstorm/internal/runner/simulated"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// crash is crash-restart with a fault that changes nothing, as a hunt would have found it.
func crash(t *testing.T) fuzz.Run {
	t.Helper()
	s, err := scenarios.Find("crash-restart")
	if err != nil {
		t.Fatal(err)
	}
	s.Expect = nil
	s.Plan = append(s.Plan[:len(s.Plan):len(s.Plan)], nemesis.Fault{Action: &nemesis.ScriptFlush{Node: 1}, Start: nemesis.At(s.Horizon / 2)})
	c := fuzz.Candidate{Scenario: s, Seed: 1}
	r, err := c.Run(t.Context(), simulated.Backend(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return fuzz.Run{Number: 7, Candidate: c, Result: r, Broken: []checker.Property{checker.Lease}}
}

// Law: a trophy is smaller than what was found, breaks the same property, and is the run
// that its scenario and its seed give.
func TestTrophiesAreSmallerAndShowTheSame(t *testing.T) {
	taker := shrink.Minimizer{Backend: simulated.Backend(), Terms: fuzz.AnyTerms, Promised: fuzz.PromisedTerms}
	found := crash(t)
	got, err := taker.Take(t.Context(), checker.Lease, found)
	if err != nil {
		t.Fatal(err)
	}
	if shrink.ExtentOf(got.Small.Executed()).Faults >= len(found.Scenario.Plan) {
		t.Errorf("it is not smaller: %v", got.Small.Plan)
	}
	again, err := fuzz.Candidate{Scenario: got.Small.Executed(), Seed: got.Small.Seed}.Run(t.Context(), simulated.Backend(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if again.TraceHash != got.Small.TraceHash || again.Report.Finding(checker.Lease).Verdict != checker.Violated {
		t.Errorf("run again it shows %v", again.Report.Verdicts())
	}
}

// Law: what breaks a promised property inside its assumptions is a defect, and stays one
// while it is shrunk; anything else is a limit that says why.
func TestDefectsAndLimits(t *testing.T) {
	for name, c := range map[string]struct {
		promised func(scenarios.Scenario) fuzz.Terms
		excuse   string // empty: a defect
	}{
		"what the lock promises": {fuzz.PromisedTerms, "plan[1]: a node that forgets is assumed"},
		"everything":             {fuzz.AnyTerms, ""},
		"nothing":                {func(scenarios.Scenario) fuzz.Terms { return nil }, fuzz.ErrNotPromised.Error()},
	} {
		t.Run(name, func(t *testing.T) {
			taker := shrink.Minimizer{Backend: simulated.Backend(), Terms: fuzz.AnyTerms, Promised: c.promised}
			got, err := taker.Take(t.Context(), checker.Lease, crash(t))
			if err != nil {
				t.Fatal(err)
			}
			switch excused := got.Excuse != nil; {
			case excused != (c.excuse != ""):
				t.Errorf("it is excused by %v: want %q", got.Excuse, c.excuse)
			case excused && c.excuse == fuzz.ErrNotPromised.Error() && !errors.Is(got.Excuse, fuzz.ErrNotPromised):
				t.Errorf("it is excused by %v: want %q", got.Excuse, c.excuse)
			}
		})
	}
}

// What is interrupted is kept as it was found.
func TestInterruptedTrophies(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	taker := shrink.Minimizer{Backend: simulated.Backend(), Terms: fuzz.AnyTerms, Promised: fuzz.PromisedTerms}
	found := crash(t)
	got, err := taker.Take(ctx, checker.Lease, found)
	if err != nil || got.Small.TraceHash != found.Result.TraceHash {
		t.Errorf("%v, %v: want what was found", got.Small.Plan, err)
	}
}

// Law: what an eviction has spoiled is not blamed on clients that work for longer than
// their leases, although they do as well and no fault is a smaller story than one. Only
// leases that do not overlap leave that as the cause.
func TestTrophiesKeepTheCause(t *testing.T) {
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
		shot := byItself(t, s, checker.Effect)
		if got := shot.Result.Report.Finding(checker.Lease).Verdict; got != lease {
			t.Fatalf("with %v lease exclusion is %v: want %v", plan, got, lease)
		}
		want := map[checker.Verdict]string{checker.Violated: "evict", checker.Holds: "no fault"}[lease]
		if got := blamed(taken(t, taker, checker.Effect, shot).Small.Executed()); got != want {
			t.Errorf("%v is shrunk to %s: want %s", plan, got, want)
		}
	}
}
