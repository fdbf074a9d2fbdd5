package fuzz_test

import (
	"slices"
	"testing"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/fuzz"
	"github.com/lockstorm/lockstorm/internal/runner/simulated"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// Law: a violation is due to those faults without which it does not happen. A crash that
// lets two clients hold a lock is to blame for that and for what they spoil, and the cut
// as well that leaves one of them a bare quorum; neither is to blame for what clients
// spoil who work for longer than their leases, and a fault that changes nothing for
// nothing.
func TestDue(t *testing.T) {
	s, err := scenarios.Find("crash-restart")
	if err != nil {
		t.Fatal(err)
	}
	s.Expect = nil
	s.Plan = append(slices.Clone(s.Plan), nemesis.Fault{Action: &nemesis.ScriptFlush{Node: 5}, Start: nemesis.At(s.Horizon / 2)})
	wantDue(t, s, []checker.Property{checker.Lease, checker.Effect})
	s.Clients = slices.Clone(s.Clients)
	for i := range s.Clients {
		s.Clients[i].Work = nemesis.Range{Min: 2 * s.Lock.TTL, Max: 2 * s.Lock.TTL}
	}
	wantDue(t, s, []checker.Property{checker.Lease})
}

// wantDue checks which of lease and effect exclusion, which a scenario violates, are
// due to its plan, and to the crash and to the cut in it.
func wantDue(t *testing.T, s scenarios.Scenario, want []checker.Property) {
	t.Helper()
	violated := []checker.Property{checker.Lease, checker.Effect}
	c := fuzz.Candidate{Scenario: s, Seed: 1}
	r, err := c.Run(t.Context(), simulated.Backend(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range violated {
		if got := r.Report.Finding(p).Verdict; got != checker.Violated {
			t.Fatalf("%s is %v with the whole plan", p, got)
		}
	}
	for blamed, want := range map[nemesis.Kind][]checker.Property{"": want, "crash": want, "partition": want, "script-flush": nil, "pause": nil} {
		var kinds []nemesis.Kind // none: the plan
		if blamed != "" {
			kinds = []nemesis.Kind{blamed}
		}
		if due, err := c.CausedBy(t.Context(), simulated.Backend(), kinds, violated); err != nil || !slices.Equal(due, want) {
			t.Errorf("work for %v: due to %q are %v, %v: want %v", s.Clients[0].Work, blamed, due, err, want)
		}
	}
}
