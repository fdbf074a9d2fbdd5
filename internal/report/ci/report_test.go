package ci_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/internal/report/ci"
	"github.com/lockstorm/lockstorm/internal/runner"
)

func of(outcomes ...ci.Outcome) ci.Report {
	var r ci.Report
	for i, o := range outcomes {
		r.Suites = append(r.Suites, ci.Suite{Name: fmt.Sprint(i), Checks: []ci.Check{{Name: "a", Outcome: o, Took: time.Second}}})
	}
	return r
}

// One contradiction decides the conclusion. An empty report, or one with checks that were not
// run, does not pass.
func TestConclusion(t *testing.T) {
	for _, c := range []struct {
		outcomes []ci.Outcome
		want     runner.Conclusion
	}{
		{nil, runner.Undecided},
		{[]ci.Outcome{ci.NotApplicable}, runner.Undecided},
		{[]ci.Outcome{ci.AsExpected}, runner.AsExpected},
		{[]ci.Outcome{ci.AsExpected, ci.NotApplicable}, runner.AsExpected},
		{[]ci.Outcome{ci.AsExpected, ci.NotRun}, runner.Undecided},
		{[]ci.Outcome{ci.Undecided, ci.AsExpected}, runner.Undecided},
		{[]ci.Outcome{ci.NotRun, ci.Contradiction, ci.Undecided}, runner.Contradiction},
	} {
		if got := of(c.outcomes...).Conclusion(); got != c.want {
			t.Errorf("%v: %v, want %v", c.outcomes, got, c.want)
		}
	}
}

// A check has the conclusion of its runs.
func TestOutcomesAreConclusions(t *testing.T) {
	for _, c := range []runner.Conclusion{runner.AsExpected, runner.Contradiction, runner.Undecided} {
		if got := of(ci.Of(c)).Conclusion(); got != c || ci.Of(c).String() != c.String() {
			t.Errorf("%v: %v", c, got)
		}
	}
}

func TestCountsAndReasons(t *testing.T) {
	s := ci.Suite{Checks: []ci.Check{
		{Name: "a", Outcome: ci.NotRun, Summary: "no time"}, {Name: "b", Outcome: ci.AsExpected, Took: time.Second},
		{Name: "c", Outcome: ci.NotRun, Summary: "no time"}, {Name: "d", Outcome: ci.NotRun, Summary: "no luck"},
	}}
	if got := s.Counts(); got != "1 as expected, 3 not run" {
		t.Error(got)
	}
	if reasons, names := s.Skipped(ci.NotRun); reasons != "no time; no luck" || !slices.Equal(names, []string{"a", "c", "d"}) {
		t.Errorf("%q, %q", reasons, names)
	}
	if got := (ci.Suite{}).Counts(); got != "no checks" || s.Took() != time.Second {
		t.Error(got, s.Took())
	}
}

// Contradictions precede undecided checks, across suites.
func TestOutcomesComeInOrder(t *testing.T) {
	var got []string
	for s, c := range of(ci.Undecided, ci.AsExpected, ci.Contradiction, ci.Undecided).Of(ci.Contradiction, ci.Undecided) {
		got = append(got, s.Name+" "+c.Outcome.String())
		if len(got) == 2 { // the loop may stop early
			break
		}
	}
	if want := []string{"2 contradiction", "0 undecided"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestTextOfACheck(t *testing.T) {
	c := ci.Check{Outcome: ci.Contradiction, Summary: "lease: violated", Story: "  one;\n  two\n", Command: "lockstorm run a --seed 3", Files: []string{"x", "y"}}
	if got, want := c.Text(), "lease: violated\n\n  one;\n  two\n\nAgain: lockstorm run a --seed 3\n\nKept: x\n      y\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := c.Headline(), "lease: violated. Again: lockstorm run a --seed 3"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := (ci.Check{Outcome: ci.Undecided}).Text(); got != "undecided\n" {
		t.Errorf("%q", got)
	}
}

// A check that failed like an earlier one has a line, without the commands.
func TestTextOfACheckLikeAnother(t *testing.T) {
	c := ci.Check{Outcome: ci.Contradiction, Summary: "lease: violated", Like: "one", Story: "told", Command: "again", Page: "page", Files: []string{"x", "y"}}
	if got, want := c.Text(), "lease: violated, as in one; kept in x\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	c.Like = ""
	if got, want := c.Text(), "lease: violated\n\ntold\n\nAgain: again\nPage:  page\n\nKept: x\n      y\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
