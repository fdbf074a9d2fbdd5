package ci

import (
	"encoding/xml"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jstemmer/go-junit-report/v2/junit"

	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/testkit"
)

// sample has every outcome.
var sample = Report{
	With:  "lockstorm v1.2.3, budget 1m, seed of the hunt 7",
	Took:  61234 * time.Millisecond,
	Notes: []string{"./locks TestLock: 12 grants in 1 run of 1 storm"},
	Checks: []Check{
		{Suite: "cases", Name: "one.yaml", Outcome: AsExpected, Took: 12 * time.Millisecond},
		{
			Suite: "cases", Name: "two_b.yaml", File: "cases/two_b.yaml", Outcome: Contradiction, Took: 3 * time.Millisecond,
			Summary: "lease exclusion is violated, but the case says holds",
			Story:   "  client 1 was granted \"a```b\" at 100 %;\n  client 2 was granted it too.\n",
			Command: "lockstorm replay cases/two_b.yaml", Kept: "counterexamples/two",
		},
		{Suite: "debate", Name: "calm", Outcome: AsExpected, Summary: "as expected (100 runs)", Took: time.Second},
		{Suite: "debate", Name: "split-vote", Outcome: Undecided, Summary: "deadlock freedom: unknown", Command: "lockstorm run split-vote", Took: 1500 * time.Millisecond},
		{Suite: "debate", Name: "late|one", Outcome: NotRun, Summary: "the budget of 1m was spent"},
		{Suite: "debate", Name: "late-two", Outcome: NotRun, Summary: "the budget of 1m was spent"},
		{Suite: "tests", Name: "./locks TestSkipped", Outcome: NotApplicable, Summary: "skipped"},
	},
}

// What GitHub gets: the summary and the annotations.
func TestGoldenGitHub(t *testing.T) {
	testkit.GoldenFile(t, "testdata/github.md", markdown(sample, maxSummary)+"\n<!-- the annotations -->\n\n"+Annotations(sample), "What GitHub shows is another.")
}

// many is a report of n checks with an outcome.
func many(n int, o Outcome) (r Report) {
	for i := range n {
		r.Checks = append(r.Checks, Check{Suite: "debate", Name: fmt.Sprint("row-", i), Outcome: o, Summary: "no", Story: strings.Repeat("so it wäs ", 100)})
	}
	return r
}

// There are never more annotations of a kind than GitHub shows, and the last counts what is left out.
func TestMaxAnnotations(t *testing.T) {
	for n, want := range map[int]struct {
		lines int
		last  string
	}{
		0: {0, ""}, 10: {10, "row-9"}, 11: {10, "and 2 more"},
	} {
		for kind, o := range map[string]Outcome{"error": Contradiction, "warning": Undecided} {
			text := Annotations(many(n, o))
			if got := strings.Count(text, "::"+kind+" "); got != want.lines || !strings.Contains(text, want.last) {
				t.Errorf("%d of %s: %d lines, without %q", n, kind, got, want.last)
			}
		}
	}
}

// A summary is never longer than its room, and says so if it is cut. It grows what was there.
func TestSummaryFits(t *testing.T) {
	for _, room := range []int{100, 3000, 3001, maxSummary} {
		text := markdown(many(5000, Contradiction), room)
		if len(text) > room || !strings.HasSuffix(text, "the JUnit file has it.\n") {
			t.Errorf("%d bytes where there is room for %d, with the end %q", len(text), room, text[max(0, len(text)-80):])
		}
	}
	path := filepath.Join(t.TempDir(), "new", "summary.md")
	for range 2 {
		if err := AppendSummary(path, sample); err != nil {
			t.Fatal(err)
		}
	}
	if text, err := os.ReadFile(path); err != nil || strings.Count(string(text), "## Lockstorm: contradiction: 1 contradiction,") != 2 {
		t.Errorf("%v: %s", err, text)
	}
}

// Each outcome has its element in JUnit, only what is as expected looks like a pass, and any text gives a valid
// file.
func TestGoldenJUnit(t *testing.T) {
	const odd = "a\x00b \x1b[31m ]]> & <b> \uffff é ✗ \xff\t\r\n𝄞"
	r := Report{Took: 8 * time.Second}
	for _, o := range outcomes {
		r.Checks = append(r.Checks, Check{Suite: "debate", Name: string(o), Outcome: o, Summary: odd, Story: odd, Command: "lockstorm run x", Took: 1500 * time.Millisecond})
	}
	path := filepath.Join(t.TempDir(), "new", "junit.xml")
	for range 2 {
		if err := SaveJUnit(path, r); err != nil {
			t.Fatal(err)
		}
	}
	text := []byte(testkit.Read(t, path))
	var all junit.Testsuites
	if err := xml.Unmarshal(text, &all); err != nil || all.Tests != len(outcomes) {
		t.Errorf("%v: %d tests", err, all.Tests)
	}
	testkit.GoldenFile(t, "testdata/junit.xml", string(text), "The JUnit file of a CI job is another.")
	if err := SaveJUnit(filepath.Join(path, "below"), r); err == nil {
		t.Error("saved below a file")
	}
}

// One contradiction decides the conclusion. An empty report, or one with checks that were not run, does not
// pass. Outcomes are named as conclusions.
func TestConclusion(t *testing.T) {
	for _, c := range []struct {
		outcomes []Outcome
		want     runner.Conclusion
	}{
		{nil, runner.Undecided},
		{[]Outcome{NotApplicable}, runner.Undecided},
		{[]Outcome{AsExpected, NotApplicable}, runner.AsExpected},
		{[]Outcome{AsExpected, NotRun}, runner.Undecided},
		{[]Outcome{Undecided, AsExpected}, runner.Undecided},
		{[]Outcome{NotRun, Contradiction, Undecided}, runner.Contradiction},
	} {
		var r Report
		for _, o := range c.outcomes {
			r.Checks = append(r.Checks, Check{Outcome: o})
		}
		if got := r.Conclusion(); got != c.want {
			t.Errorf("%v: %v, want %v", c.outcomes, got, c.want)
		}
		if !slices.Contains(outcomes, Outcome(c.want.String())) {
			t.Errorf("no outcome is named %v", c.want)
		}
	}
}
