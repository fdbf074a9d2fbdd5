package runner_test

import (
	"fmt"
	"testing"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/guard"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/scenarios"
)

// wantHolds checks that properties hold in each of n runs on a backend.
func wantHolds(t *testing.T, b runner.Backend, s scenarios.Scenario, n int, properties []checker.Property) {
	t.Helper()
	tally, err := runner.Batch{Experiment: prepared(t, b, s), First: 1, Runs: n}.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range properties {
		if got := tally.Observed(p); got != checker.Holds {
			t.Errorf("%s is %v: %s", p, got, tally.First[p].Report.Finding(p).Story())
		}
	}
}

// Law: where a scenario breaks lease or section exclusion the lease is to blame: a lock without one,
// which nothing can reach, excludes in the same storm.
func TestAnOracleExcludesInEveryRow(t *testing.T) {
	for _, s := range scenarios.Every() {
		var broken []checker.Property
		for _, p := range []checker.Property{checker.Lease, checker.Section} {
			if s.Expect[p] == checker.Violated {
				broken = append(broken, p)
			}
		}
		if len(broken) == 0 {
			continue
		}
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			s.Lock.Kind = "oracle"
			wantHolds(t, runner.WithOracle(simulator), s, 20, broken)
		})
	}
}

// Law: where a scenario breaks effect exclusion the resource could have prevented
// it: one that checks a fence on reads and writes does, in the same storm.
func TestAFencedResourceIsSafeInEveryRow(t *testing.T) {
	for _, s := range scenarios.Every() {
		if s.Expect[checker.Effect] != checker.Violated {
			continue
		}
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			s.Guard, s.Lock.Fence = guard.Fenced, "" // the fence is the resource's own
			s.Clients = fencing(s.Clients)
			s.Lock.Fence = "" // nodes can lose their counters
			wantHolds(t, simulator, s, 20, []checker.Property{checker.Effect})
		})
	}
}

// fencing makes clients draw a fence with each grant.
func fencing(clients []scenarios.Client) []scenarios.Client {
	same := make([]scenarios.Client, len(clients))
	for i, c := range clients {
		c.Fence = true
		same[i] = c
	}
	return same
}

// suspects are the locks that break each property.
var suspects = map[checker.Property][]string{
	checker.Lease: {"careless"}, checker.Section: {"careless"}, checker.Effect: {"careless"}, checker.Fence: {"careless"},
	checker.Contract: {"lying", "dawdling"}, checker.Cleanup: {"littering", "hoarding", "usurping"},
	checker.DeadlockFreedom: {"grudging"}, checker.FaultTolerance: {"fragile", "grudging"},
}

// Law: what a scenario shows to hold, a lock can break in it.
func TestEveryRowFindsABrokenLock(t *testing.T) {
	for _, s := range scenarios.Every() {
		for _, p := range checker.Properties() {
			if s.Expect[p] != checker.Holds {
				continue
			}
			t.Run(s.Name+", "+p.Code(), func(t *testing.T) {
				t.Parallel()
				s := s
				if p == checker.Effect && s.Guard == guard.Token {
					s.Guard = guard.Plain // who compares and sets needs no lock at all
				}
				wantBroken(t, s, p)
			})
		}
	}
}

// wantBroken looks for a suspect's run that violates a property.
func wantBroken(t *testing.T, s scenarios.Scenario, p checker.Property) {
	t.Helper()
	seen := map[string]int{}
	for seed := uint64(1); seed <= 10; seed++ {
		for _, kind := range suspects[p] {
			s.Lock = runner.Fitted(s.Lock, kind)
			r, err := runner.Run(t.Context(), simulator, s, seed, nil)
			if err != nil {
				t.Fatal(err)
			}
			found := r.Report.Finding(p).Verdict
			if found == checker.Violated {
				return
			}
			seen[fmt.Sprintf("%s: %v", s.Lock.Kind, found)]++
		}
	}
	t.Errorf("%s is violated in no run, so that it says nothing that it holds: %v. Give %s a longer horizon, or clients that overlap", p, seen, s.Name)
}
