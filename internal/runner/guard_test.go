package runner_test

import (
	"testing"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/runner"
)

// A resource that checks who comes turns late writes away, and one that does not
// takes them. Compare-and-set on the token of the lock keeps updates from being
// lost. It says nothing about whose section comes last, and turns away whoever has
// not read last: a holder whose lock has expired, or the one who holds it now.
func TestWhatTheResourceRefuses(t *testing.T) {
	for name, want := range map[string]checker.Measurements{
		"delayed-write":                 {StaleWrites: checker.StaleWrites{StaleApplies: 1}},
		"fenced-write":                  {Rejections: checker.Rejections{Rejected: 1}},
		"fenced-write-checked":          {Rejections: checker.Rejections{Rejected: 1}},
		"fenced-write-delayed":          {Rejections: checker.Rejections{Rejected: 1}},
		"fenced-writes-only":            {},
		"token-check-and-set":           {Rejections: checker.Rejections{Rejected: 1}},
		"token-check-and-set-stale":     {StaleWrites: checker.StaleWrites{StaleApplies: 1}},
		"token-check-and-set-late-read": {Rejections: checker.Rejections{Rejected: 1, WronglyRejected: 1}},
	} {
		for _, m := range measurements(t, name) {
			if m.Rejected != want.Rejected || m.WronglyRejected != want.WronglyRejected || m.StaleApplies != want.StaleApplies {
				t.Errorf("the resource refused %d accesses, %d of them of who held the lock, and took %d stale writes; want %d, %d and %d: lockstorm run %s",
					m.Rejected, m.WronglyRejected, m.StaleApplies, want.Rejected, want.WronglyRejected, want.StaleApplies, name)
			}
		}
	}
}

// With fences checked on writes only both holders read before the first write, and
// write in the order of their fences: nothing is refused, and an update is lost.
func TestFencedWritesOnlyLoseAnUpdate(t *testing.T) {
	logs(t, "fenced-writes-only", 20, func(t *testing.T, log history.Log) {
		var applied []history.Event
		for _, e := range log {
			if e.Kind == history.Apply {
				applied = append(applied, e)
			}
		}
		if len(applied) != 2 || applied[0].Value != 1 || applied[1].Value != 1 || applied[0].Client != 1 || applied[0].Fence >= applied[1].Fence {
			t.Errorf("applied %+v", applied)
		}
	})
}

// A write that was posted arrives when its lock has been released, and would have
// expired.
func TestDelayedWriteArrivesAfterTheRelease(t *testing.T) {
	logs(t, "delayed-write", 20, func(t *testing.T, log history.Log) {
		released, arrived := happened(log, 1, history.Released), happened(log, 1, history.Apply)
		if len(released) != 1 || len(arrived) != 1 || arrived[0].Sub(released[0]) < find(t, "delayed-write").Lock.TTL {
			t.Errorf("released %v, arrived %v", released, arrived)
		}
	})
}

func wantVerdicts(t *testing.T, tally runner.Tally, want map[checker.Property]checker.Verdict) {
	t.Helper()
	for p, want := range want {
		if got := tally.Observed(p); got != want {
			t.Errorf("%s is %v, want %v: %s", p, got, want, tally.First[p].Report.Finding(p).Story())
		}
	}
}
