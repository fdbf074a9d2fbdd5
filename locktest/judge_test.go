package locktest

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/runner"
)

// Law: of a run for which the machine was too slow nothing that is promised is known, and
// nothing counts that was seen.
func TestSlippedRunsSayNothing(t *testing.T) {
	c := Config{Nodes: 1}.filled("test")
	o := outcome{Result: runner.Result{Scenario: c.scenario(Storm{Name: "calm"}), SchedulingLag: time.Hour}}
	o.Report.Findings = []checker.Finding{
		{Property: checker.Lease, Verdict: checker.Violated},
		{Property: checker.Section, Verdict: checker.Violated},
		{Property: checker.DeadlockFreedom, Verdict: checker.Holds},
		{Property: checker.Contract, Verdict: checker.NotApplicable},
	}
	j := o.judge(c)
	if len(j.broken) > 0 || len(j.limits) > 0 || len(j.open) != 2 {
		t.Errorf("%+v", j)
	}
	o.SchedulingLag = 0
	j = o.judge(c)
	if len(j.broken) != 1 || len(j.limits) != 1 || len(j.open) > 0 {
		t.Errorf("in time: %+v", j)
	}
}

// Law: a storm is run as often as it says, whatever the first seed is.
func TestSeedsAreAsManyAsRuns(t *testing.T) {
	tr := trial{Config: Config{Seed: math.MaxUint64, Runs: 3}}
	if got, want := tr.seeds(Storm{}), []uint64{math.MaxUint64, 0, 1}; !slices.Equal(got, want) {
		t.Errorf("seeds %v, want %v", got, want)
	}
	if got := len(tr.seeds(Storm{Runs: 2})); got != 2 {
		t.Errorf("%d runs of 2", got)
	}
}

// Who reads what came of a storm is told what was not judged for want of keys.
func TestWantOfKeysIsTold(t *testing.T) {
	const want = "for want of the lock's keys: L3"
	for _, keys := range []bool{false, true} {
		o := outcome{Result: runner.Result{Scenario: Config{Nodes: 1}.filled("test").scenario(Storm{Name: "calm"})}}
		o.header.Keys = keys
		sum := newSummary()
		sum.add(o, judgement{})
		if text := sum.text(Storm{Name: "calm"}); strings.Contains(text, want) == keys {
			t.Errorf("keys are recorded: %v: %s", keys, text)
		}
	}
}
