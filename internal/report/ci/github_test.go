package ci_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/internal/report/ci"
	"github.com/lockstorm/lockstorm/internal/testkit"
)

// sample has every outcome.
func sample() ci.Report {
	return ci.Report{
		With: "lockstorm v1.2.3, budget 1m, seed of the hunt 7",
		Took: 61234 * time.Millisecond,
		Suites: []ci.Suite{
			{Name: "cases", Checks: []ci.Check{
				{Name: "one.yaml", Outcome: ci.AsExpected, Took: 12 * time.Millisecond},
				{
					Name: "two_b.yaml", File: "cases/two_b.yaml", Outcome: ci.Contradiction, Took: 3 * time.Millisecond,
					Summary: "lease exclusion is violated, but the case says holds",
					Story:   "  client 1 was granted \"a```b\" at 100 %;\n  client 2 was granted it too.\n",
					Diagram: "sequenceDiagram\n  participant p0 as client 1\n",
					Command: "lockstorm replay cases/two_b.yaml", Files: []string{"counterexamples/runs/two-sim-1"},
				},
			}},
			{Name: "debate", Note: "backend sim", Checks: []ci.Check{
				{Name: "calm", Outcome: ci.AsExpected, Summary: "✓ in 100 runs", Took: time.Second},
				{Name: "split-vote", Outcome: ci.Undecided, Summary: "deadlock freedom: unknown, but holds is expected (seed 4)", Command: "lockstorm run split-vote --seed 4", Took: 2 * time.Second},
				{Name: "late|one", Outcome: ci.NotRun, Summary: "the budget of 1m was spent"},
				{Name: "late-two", Outcome: ci.NotRun, Summary: "the budget of 1m was spent"},
				{Name: "other", Outcome: ci.NotApplicable, Summary: "the backend cannot"},
			}},
		},
	}
}

func TestGoldenSummary(t *testing.T) {
	testkit.GoldenFile(t, "testdata/summary.md", ci.GitHubSummary(sample(), ci.MaxSummary), "The summary of a step is another.")
}

func TestGoldenAnnotations(t *testing.T) {
	var b strings.Builder
	if err := ci.AnnotateGitHub(&b, sample()); err != nil {
		t.Fatal(err)
	}
	testkit.GoldenFile(t, "testdata/annotations.txt", b.String(), "The annotations of a step are others.")
}

// many is a report of n checks with an outcome.
func many(n int, o ci.Outcome) ci.Report {
	s := ci.Suite{Name: "debate"}
	for i := range n {
		s.Checks = append(s.Checks, ci.Check{Name: fmt.Sprint("row-", i), Outcome: o, Summary: "no", Story: strings.Repeat("so it was ", 100)})
	}
	return ci.Report{Suites: []ci.Suite{s}}
}

// There are never more annotations of a kind than GitHub shows, and the last counts what is
// left out.
func TestMaxAnnotations(t *testing.T) {
	for n, want := range map[int]struct {
		lines int
		last  string
	}{
		0: {0, ""}, 1: {1, "row-0"}, 10: {10, "row-9"}, 11: {10, "and 2 more"}, 500: {10, "and 491 more"},
	} {
		for kind, o := range map[string]ci.Outcome{"error": ci.Contradiction, "warning": ci.Undecided} {
			var b strings.Builder
			if err := ci.AnnotateGitHub(&b, many(n, o)); err != nil {
				t.Fatal(err)
			}
			lines := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
			if got := strings.Count(b.String(), "::"+kind+" "); got != want.lines || !strings.Contains(lines[len(lines)-1], want.last) {
				t.Errorf("%d of %s: %d lines, the last %s", n, kind, got, lines[len(lines)-1])
			}
		}
	}
}

// A summary is never longer than its room, and counts what it leaves out.
func TestMaxSummary(t *testing.T) {
	for _, o := range []ci.Outcome{ci.Contradiction, ci.NotRun} {
		for _, room := range []int{3000, 20000, ci.MaxSummary} {
			r := many(5000, o)
			text := ci.GitHubSummary(r, room)
			if len(text) > room {
				t.Errorf("%v: %d bytes where there is room for %d", o, len(text), room)
			}
			told := strings.Count(text, "### debate: row-")
			switch left := fmt.Sprintf("There is no room for %d more", 5000-told); {
			case o == ci.Contradiction && (told == 0 && room > 3000 || !strings.Contains(text, left)):
				t.Errorf("%d described in %d bytes, without %q", told, room, left)
			case o == ci.NotRun && !strings.Contains(text, "5000 checks"):
				t.Errorf("in %d bytes, checks that were not run are missing", room)
			}
		}
	}
}
