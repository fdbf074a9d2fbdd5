package runpage_test

import (
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/show/runpage"
	"github.com/lockstorm/lockstorm/results"
	"github.com/lockstorm/lockstorm/scenarios"
)

// shown returns a run of crash-restart that violates these properties.
func shown(t *testing.T, violated ...checker.Property) runpage.Shown {
	t.Helper()
	s, err := scenarios.Find("crash-restart")
	if err != nil {
		t.Fatal(err)
	}
	run := results.Run{Scenario: scenarios.Encoded{Scenario: s}}
	for _, p := range violated {
		run.Report.Findings = append(run.Report.Findings, checker.Finding{Property: p, Verdict: checker.Violated})
	}
	return runpage.Shown{Run: run}
}

// The lead says of each violation whether it is a limit of the lock or a defect: in at most two sentences,
// and first what is a defect.
func TestLeadSaysLimitOrDefect(t *testing.T) {
	const (
		forgets = "fault 2: node 3 can return after 0s without something that it had acknowledged, sooner than 1s (restart_delay)"
		defect  = "the lock promises this, and the run stays within its assumptions."
	)
	for name, c := range map[string]struct {
		violated []checker.Property
		want     string
	}{
		"one":                {[]checker.Property{checker.Lease}, " A limit: " + forgets + "."},
		"two for one reason": {[]checker.Property{checker.Lease, checker.Section}, " A limit: " + forgets + "."},
		"two for two":        {[]checker.Property{checker.Lease, checker.Effect}, " A limit (V1): " + forgets + ". A limit (V3): the lock does not promise it."},
		"a defect":           {[]checker.Property{checker.Contract}, " A defect: " + defect},
		"a defect first":     {[]checker.Property{checker.Lease, checker.Contract}, " A defect (C): " + defect + " A limit (V1): " + forgets + "."},
		"more":               {[]checker.Property{checker.Lease, checker.Section, checker.Effect, checker.Contract}, " A defect (C): " + defect + " A limit (V1 and V2): " + forgets + "; limits, too: V3."},
	} {
		if got := shown(t, c.violated...).Sentence(); !strings.HasSuffix(got, c.want) {
			t.Errorf("%s: the lead is\n%s\nwant at its end\n%s", name, got, c.want)
		}
	}
}

// Nothing is said of a lock whose promises nobody knows; of one that was tested, what the test has said.
func TestLeadOfAnUnknownLock(t *testing.T) {
	unknown := shown(t, checker.Lease, checker.Effect)
	unknown.Run.Scenario.Lock.Kind = "" // the history alone does not name it
	tested := shown(t, checker.Lease)
	tested.Run.Judged = &runner.Judged{Limits: []runner.Limit{{Property: checker.Lease, Why: "fault 2: node 3 can return"}}}
	for name, got := range map[string]string{"unknown": unknown.Sentence(), "tested": tested.Sentence()} {
		if strings.Contains(got, "A limit") || strings.Contains(got, "A defect") {
			t.Errorf("%s: %s", name, got)
		}
	}
	if got := tested.Sentence(); !strings.HasSuffix(got, "not promised, because fault 2: node 3 can return.") {
		t.Error(got)
	}
}
