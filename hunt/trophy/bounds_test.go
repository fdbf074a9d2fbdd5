package trophy_test

import (
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/hunt"
	"github.com/lockstorm/lockstorm/hunt/assume"
	"github.com/lockstorm/lockstorm/hunt/trophy"
	"github.com/lockstorm/lockstorm/scenarios"
	"github.com/lockstorm/lockstorm/storm/simulated"
)

// Law: what is shrunk is bound by nothing that a correct lock could not keep with the
// settings that remain. A lock that finds nobody for want of nodes breaks L1; with node
// timeouts below a round trip any lock would.
func TestShrinkingLeavesBoundsThatCanBeKept(t *testing.T) {
	s, err := scenarios.Find("frozen-clock-majority")
	if err != nil {
		t.Fatal(err)
	}
	s.Expect = nil
	s.Bounds.Grant = 10 * time.Second // longer than what follows from its settings
	if kept := hunt.BoundsKept(s); len(kept) == 0 {
		t.Fatalf("no bound of %+v follows from the settings", s.Bounds)
	}
	c := hunt.Candidate{Scenario: s, Seed: 1}
	r, err := c.Run(t.Context(), simulated.Backend(), nil)
	if err != nil || r.Report.Finding(checker.DeadlockFreedom).Verdict != checker.Violated {
		t.Fatalf("%v, %v", r.Report.Verdicts(), err)
	}
	got, err := trophy.Taker{Backend: simulated.Backend(), Terms: assume.Anything, Promised: assume.Promised}.
		Take(t.Context(), checker.DeadlockFreedom, hunt.Shot{Number: 1, Candidate: c, Result: r, Broken: []checker.Property{checker.DeadlockFreedom}})
	if err != nil {
		t.Fatal(err)
	}
	before, after := hunt.BoundsKept(s), hunt.BoundsKept(got.Small.Done())
	if len(after) < len(before) {
		t.Errorf("of %v only %v can be kept:\n%+v", before, after, got.Small.Lock)
	}
}
