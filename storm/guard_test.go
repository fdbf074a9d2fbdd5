package storm_test

import (
	"slices"
	"testing"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/storm"
)

// guarded returns how many accesses the guarded resource refused, and how many
// stale ones it took, in 100 runs of a scenario.
func guarded(t *testing.T, name string) (rejected, stale int) {
	t.Helper()
	batch := storm.Batch{Backend: simulator, Scenario: find(t, name), First: 1, Runs: 100, Each: func(r storm.Result) {
		rejected += r.Report.Measurements.Rejected
		stale += r.Report.Measurements.StaleApplies
	}}
	if _, err := batch.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	return rejected, stale
}

// A resource that checks who comes turns late writes away, and one that does not
// takes them. Compare-and-set on the token of the lock keeps updates from being
// lost, and says nothing about whose section comes last.
func TestWhatTheResourceRefuses(t *testing.T) {
	for _, c := range []struct {
		scenario        string
		rejected, stale int // of 100 runs
	}{
		{"delayed-write", 0, 100},
		{"fenced-write", 100, 0},
		{"fenced-write-checked", 100, 0},
		{"fenced-write-delayed", 100, 0},
		{"fenced-writes-only", 0, 0},
		{"token-check-and-set", 100, 0},
		{"token-check-and-set-late-read", 100, 0},
		{"token-check-and-set-stale", 0, 100},
	} {
		rejected, stale := guarded(t, c.scenario)
		if rejected != c.rejected || stale != c.stale {
			t.Errorf("%s: %d rejected, %d stale, want %d and %d", c.scenario, rejected, stale, c.rejected, c.stale)
		}
	}
}

// Who is turned away by compare-and-set on the token is whoever has not read last:
// a holder whose lock has expired, or the one who holds it now.
func TestTokenTurnsTheRightfulHolderAway(t *testing.T) {
	for name, who := range map[string]int{"token-check-and-set": 1, "token-check-and-set-late-read": 2} {
		logs(t, name, 20, func(t *testing.T, log history.Log) {
			i := slices.IndexFunc(log, func(e history.Event) bool { return e.Kind == history.WriteDone && e.Outcome == history.Declined })
			if i < 0 || log[i].Client != who {
				t.Fatalf("%s: the write of client %d was not rejected", name, who)
			}
			lapsed := slices.ContainsFunc(log[:i], func(e history.Event) bool { return e.Kind == history.Lapse && e.Client == who })
			if lapsed != (who == 1) {
				t.Errorf("%s: that the validity of client %d was over when it was turned away is %v", name, who, lapsed)
			}
		})
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

func wantVerdicts(t *testing.T, tally storm.Tally, want map[checker.Property]checker.Verdict) {
	t.Helper()
	for p, want := range want {
		if got := tally.Observed(p); got != want {
			t.Errorf("%s is %v, want %v: %s", p, got, want, tally.First[p].Report.Finding(p).Story)
		}
	}
}
