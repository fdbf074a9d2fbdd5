package locktest

import (
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/runner"
)

// Law: if the machine was too slow for a run, everything that is promised is unknown, and
// violations do not count.
func TestSlippedRunsSayNothing(t *testing.T) {
	c := Config{Nodes: 1}.filled("test")
	o := runResult{Result: runner.Result{Scenario: c.scenario(Storm{Name: "calm"}), SchedulingLag: time.Hour}}
	o.Report.Findings = []checker.Finding{
		{Property: checker.Lease, Verdict: checker.Violated},
		{Property: checker.Section, Verdict: checker.Violated},
		{Property: checker.DeadlockFreedom, Verdict: checker.Holds},
		{Property: checker.Contract, Verdict: checker.NotApplicable},
	}
	j := o.judge(c)
	if len(j.Broken) > 0 || len(j.Limits) > 0 || len(j.Open) != 2 {
		t.Errorf("%+v", j)
	}
	o.SchedulingLag = 0
	j = o.judge(c)
	if len(j.Broken) != 1 || len(j.Limits) != 1 || len(j.Open) > 0 {
		t.Errorf("in time: %+v", j)
	}
}
