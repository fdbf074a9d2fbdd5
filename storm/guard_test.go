package storm_test

import (
	"context"
	"testing"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/guard"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/storm"
)

// guarded runs pause-then-write, with the pause at a step and another guard, and
// returns the tally and the accesses of all runs that were rejected or stale.
func guarded(t *testing.T, mode guard.Mode, step env.Step) (tally storm.Tally, rejected, stale int) {
	t.Helper()
	s := find(t, "pause-then-write")
	s.Guard = mode
	s.Plan = append(nemesis.Plan(nil), s.Plan...)
	s.Plan[0].Start = nemesis.When(1, step, 0)
	tally, err := storm.Batch{Backend: simulator, Scenario: s, First: 1, Runs: 100, Each: func(r storm.Result) {
		rejected += r.Report.Measurements.Rejected
		stale += r.Report.Measurements.StaleApplies
	}}.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return tally, rejected, stale
}

func wantVerdicts(t *testing.T, tally storm.Tally, want map[checker.Property]checker.Verdict) {
	t.Helper()
	for p, want := range want {
		if got := tally.Observed(p); got != want {
			t.Errorf("%s is %v, want %v: %s", p, got, want, tally.First[p].Report.Finding(p).Story)
		}
	}
}

// Compare-and-set on the token of the lock keeps updates from being lost where
// the lock itself does not, and says nothing about whose write comes last.
func TestTokenCheckAndSet(t *testing.T) {
	for _, c := range []struct {
		mode   guard.Mode
		effect checker.Verdict
	}{{guard.Token, checker.Holds}, {guard.Plain, checker.Violated}} {
		tally, rejected, _ := guarded(t, c.mode, env.StepAfterRead)
		wantVerdicts(t, tally, map[checker.Property]checker.Verdict{
			checker.Lease: checker.Holds, checker.Section: checker.Violated, checker.Effect: c.effect,
		})
		if (rejected > 0) != (c.mode == guard.Token) {
			t.Errorf("%s: %d accesses rejected", c.mode, rejected)
		}
	}

	// A holder who stands still before it reads is not found out: its section
	// comes late, and whole.
	tally, rejected, stale := guarded(t, guard.Token, env.StepBeforeRead)
	wantVerdicts(t, tally, map[checker.Property]checker.Verdict{checker.Section: checker.Violated, checker.Effect: checker.Holds})
	if rejected > 0 || stale == 0 {
		t.Errorf("%d accesses rejected, %d stale", rejected, stale)
	}
}
