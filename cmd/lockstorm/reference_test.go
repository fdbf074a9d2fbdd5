package main

import (
	"context"
	"io"
	"os"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/results"
	"github.com/lockstorm/lockstorm/scenarios"
	"github.com/lockstorm/lockstorm/storm"
)

// The reference results and the pages that are made of them are renewed by "make
// reference".

const (
	referenceDir = "../../results/reference"
	renew        = `; if that is as it should be, renew it with "make reference"`
)

// exactArch is the architecture on which runs follow from their seeds alone: the
// drift factor is a float64.
const exactArch = "amd64"

// disagreement says how a fresh row differs from the stored one: in anything, or
// else in a verdict.
func disagreement(stored, fresh results.Row, exact bool) string {
	if exact {
		if !reflect.DeepEqual(stored, fresh) {
			return "another row"
		}
		return ""
	}
	was, is := stored.Tally(scenarios.Scenario{}), fresh.Tally(scenarios.Scenario{})
	for _, p := range checker.Properties() {
		if was.Observed(p) != is.Observed(p) {
			return p.Title() + " was " + was.Observed(p).String() + " and is " + is.Observed(p).String()
		}
	}
	return ""
}

// agrees runs again what is stored in a file, and compares. The stored rows must be
// those of a suite.
func agrees(t *testing.T, file string, whole suite) {
	t.Helper()
	stored, err := results.LoadReference(referenceDir, file)
	if err != nil {
		t.Fatal(err)
	}
	s := suite{what: file, backend: backends[0].Backend}
	var have, should []string
	for _, r := range stored.Rows {
		scenario, err := scenarios.Find(r.Scenario)
		if err != nil {
			t.Fatalf("%v%s", err, renew)
		}
		s.tasks = append(s.tasks, task{scenario, r.First, r.Runs})
		have = append(have, r.Scenario)
	}
	for _, t := range whole.tasks {
		should = append(should, t.scenario.Name)
	}
	if !slices.Equal(have, should) {
		t.Fatalf("%s has the rows %v, want %v%s", file, have, should, renew)
	}
	found, refused, err := s.run(context.Background(), io.Discard)
	if err != nil || len(refused) > 0 {
		t.Fatal(err, refused)
	}
	fresh := s.reference(found)
	for i, r := range fresh.Rows {
		if text := disagreement(stored.Rows[i], r, runtime.GOARCH == exactArch); text != "" {
			t.Errorf("%s: %s%s\nstored %+v\nfresh  %+v", r.Scenario, text, renew, stored.Rows[i], r)
		}
	}
}

func TestDebateAgreesWithItsReference(t *testing.T) {
	d, err := choose(nil)
	if err != nil {
		t.Fatal(err)
	}
	agrees(t, results.DebateFile, debateOptions{points: 1}.suite(d))
}

func TestComparisonAgreesWithItsReference(t *testing.T) {
	c, err := compared(nil, "")
	if err != nil {
		t.Fatal(err)
	}
	agrees(t, results.CompareFile, c.suite(1, 1))
}

// A row that differs in one count, one story or one trace is noticed; elsewhere one
// that differs in a verdict.
func TestDisagreementIsNoticed(t *testing.T) {
	s, err := scenarios.Find("crash-restart")
	if err != nil {
		t.Fatal(err)
	}
	row := func(first uint64) results.Row {
		e, err := storm.Prepare(backends[0].Backend, s)
		if err != nil {
			t.Fatal(err)
		}
		tally, err := storm.Batch{Experiment: e, First: first, Runs: 2}.Run(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		return results.RowOf(tally, first)
	}
	stored := row(1)
	want(t, "the same", disagreement(stored, row(1), true), "")
	want(t, "other seeds, exactly", disagreement(stored, row(2), true), "another row")
	want(t, "other seeds, by verdict", disagreement(stored, row(2), false), "")
	changes := map[string]func(r *results.Row){
		"a story": func(r *results.Row) { r.Violations[0].Story += "." },
		"a trace": func(r *results.Row) { r.Trace = results.Hash(7) },
		"a count": func(r *results.Row) { r.Measured.Requests++ },
	}
	for what, change := range changes {
		fresh := row(1)
		change(&fresh)
		want(t, what, disagreement(stored, fresh, true), "another row")
	}
	fresh := row(1)
	fresh.Seen[checker.Lease] = map[checker.Verdict]int{checker.Holds: 2}
	want(t, "a verdict", disagreement(stored, fresh, false), "lease exclusion was violated and is holds")
}

// The pages are what the stored results give.
func TestPagesAreOfTheReference(t *testing.T) {
	read := func(path string) string {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	print := func(args ...string) string {
		code, out, problems := command(t, append(args, "--from", referenceDir, "--format", "markdown")...)
		if code != exitAsExpected {
			t.Fatalf("%v: exit code %d: %s", args, code, problems)
		}
		return out
	}
	same := func(what, have, should string) {
		if have != should {
			t.Errorf("%s is not what the stored results give%s", what, renew)
		}
	}
	same("docs/debate.md", read("../../docs/debate.md"), print("debate"))
	same("docs/compare.md", read("../../docs/compare.md"), print("compare"))
	_, rest, begun := strings.Cut(read("../../README.md"), "<!-- debate -->\n")
	table, _, ended := strings.Cut(rest, "<!-- /debate -->\n")
	if !begun || !ended {
		t.Fatal("README.md has no table between the markers")
	}
	same("the table in README.md", table, print("debate", "--short"))
}
