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

// Law: faults cause a violation if it does not happen without them. A crash that lets two
// clients hold a lock causes that and the lost updates, and so does the partition that leaves
// one of them a bare quorum. Neither causes the lost updates of clients that work for longer
// than their leases, and a fault without effect causes nothing.
func TestCausedBy(t *testing.T) {
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

// wantDue checks which violations of lease and effect exclusion are caused by the plan, by its
// crash and by its partition.
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
