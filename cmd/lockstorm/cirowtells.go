package main

import (
	"fmt"
	"strings"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/report"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/textfmt"
	"github.com/lockstorm/lockstorm/scenarios"
)

// verdictsIn says what runs have shown, in signs.
func verdictsIn(t runner.Tally) string {
	return fmt.Sprintf("%s in %s", report.Signs(t), textfmt.Count(t.Runs, "run"))
}

// notShown says which violations are expected that no run has shown.
func notShown(t runner.Tally) string {
	var titles []string
	for _, p := range checker.Properties() {
		if want, _ := t.Scenario.Expect.Want(p); want == checker.Violated && t.Seen[p][checker.Violated] == 0 {
			titles = append(titles, p.Title())
		}
	}
	return fmt.Sprintf("violations of %s are expected, and none was seen: %s", strings.Join(titles, ", "), verdictsIn(t))
}

// telling are the findings of a run by which its scenario is not as expected: those that
// contradict, or else those that were left open.
func telling(r runner.Result) (list []checker.Finding) {
	for _, f := range r.Report.Findings {
		if r.Scenario.Expect.Judge(f.Property, f.Verdict) == scenarios.Contradicted {
			list = append(list, f)
		}
	}
	if len(list) > 0 || r.Interrupted || r.Slipped() {
		return list
	}
	for _, f := range r.Report.Findings {
		if want := r.Scenario.Expect[f.Property]; f.Verdict == checker.Unknown && want != checker.Unknown {
			list = append(list, f)
		}
	}
	return list
}

// tellRun tells of a run by which its scenario is not as expected, in a line and in a
// story.
func tellRun(r runner.Result) (says, story string) {
	var stands, stories []string // what is said of some properties, once
	titles := map[string][]string{}
	var before checker.Finding
	for _, f := range telling(r) {
		stand := standingOf(r, f)
		if titles[stand] == nil {
			stands = append(stands, stand)
		}
		titles[stand] = append(titles[stand], f.Property.Title())
		if !checker.SameOverlap(before, f) {
			stories = append(stories, told(f.Lines()...))
		}
		before = f
	}
	for i, stand := range stands {
		stands[i] = strings.Join(titles[stand], ", ") + ": " + stand
	}
	says = strings.Join(stands, "; ") + seeded(r)
	if r.Report.Cut != "" {
		says += ": " + r.Report.Cut
	}
	return says, strings.Join(stories, "\n")
}

// standingOf says how a verdict compares with what was expected.
func standingOf(r runner.Result, f checker.Finding) string {
	if want, wanted := r.Scenario.Expect.Want(f.Property); wanted {
		return fmt.Sprintf("%v, where %v is expected", f.Verdict, want)
	}
	return fmt.Sprintf("%v, where nothing is expected", f.Verdict)
}
