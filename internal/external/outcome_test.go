package external_test

import (
	"strings"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/external"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/scenarios"
)

// Law: a verdict that breaks no promise has a mark, and the last line names a violation only if it is excused by
// nothing but the list of promises.
func TestViolationsThatAreNotPromised(t *testing.T) {
	const said = "; violated, but not promised: "
	for _, c := range []struct {
		row, named, verdict, summary string
	}{
		{"calm", "V1", "V1 violated", ""},
		{"calm", "C", "V1 violated (limit)", said + "V1 in calm; "},
		{"crash-restart", "V1", "V1 violated (limit)", ""},
		{"crash-restart", "C", "V1 violated (limit)", ""},
	} {
		s, err := scenarios.Find(c.row)
		if err != nil {
			t.Fatal(err)
		}
		promises := map[string]checker.Property{"V1": checker.Lease, "C": checker.Contract}
		r := runner.Result{Scenario: s, Plan: s.Plan}
		r.Report.Findings = []checker.Finding{{Property: checker.Lease, Verdict: checker.Violated}, {Property: checker.Cleanup, Verdict: checker.Unknown}}
		var o external.Outcome
		o.Add(r, external.Judge(r, external.Capabilities{}, []checker.Property{promises[c.named]}, true), external.Exercised{})
		if got, want := strings.Join(o.Verdicts(checker.Properties()), ", "), c.verdict+", L3 unknown (not promised)"; got != want {
			t.Errorf("%s of which %s is promised: %s, want %s", c.row, c.named, got, want)
		}
		var all external.Summary
		all.Add(&o, time.Second, false)
		if got := all.String(); !strings.Contains(got, c.summary) || c.summary == "" && strings.Contains(got, said) {
			t.Errorf("%s of which %s is promised: %s, want %s", c.row, c.named, got, c.summary)
		}
	}
}
