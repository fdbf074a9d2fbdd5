package external_test

import (
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/external"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/scenarios"
)

// A limit names the fault by its number, as traces and pages do, also where it is stored.
func TestLimitsNumberTheFault(t *testing.T) {
	s, err := scenarios.Find("crash-restart")
	if err != nil {
		t.Fatal(err)
	}
	r := runner.Result{Scenario: s, Plan: s.Plan}
	r.Report.Findings = []checker.Finding{{Property: checker.Lease, Verdict: checker.Violated}}
	j := external.Judge(r, external.Capabilities{}, []checker.Property{checker.Lease}, true)
	if len(j.Limits) != 1 || !strings.HasPrefix(j.Limits[0].Why, "fault 2: node 3 can return") || j.Stored().Limits[0].Why != j.Limits[0].Why {
		t.Errorf("%+v, stored %+v", j, j.Stored())
	}
}
