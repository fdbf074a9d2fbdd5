// Package ci reports checks: as JUnit XML, as the Markdown summary of a GitHub step, and as GitHub
// annotations. Whatever exceeds GitHub's limits is counted, because GitHub drops it silently.
package ci

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/internal/runner"
)

// Outcome is the result of a check.
type Outcome string

// The outcomes.
const (
	Contradiction Outcome = "contradiction"    // it showed what it must not
	Undecided     Outcome = "undecided"        // it ran, at least in part, and decided nothing
	NotRun        Outcome = "not run"          // there was no time for it
	NotApplicable Outcome = "nothing to judge" // there is nothing to check; it counts for nothing
	AsExpected    Outcome = "as expected"      // it showed what it should
)

// outcomes are all outcomes in the order of reports.
var outcomes = []Outcome{Contradiction, Undecided, NotRun, NotApplicable, AsExpected}

// Check is one check and its outcome. What is not known is empty.
type Check struct {
	Suite, Name string
	Outcome     Outcome

	File    string // that the check was read from, relative to the repository
	Summary string // the outcome in a line
	Story   string // what happened, in lines
	Command string // repeats the check
	Kept    string // the directory with evidence
	Took    time.Duration
}

// Text is all about the check, in lines.
func (c Check) Text() string {
	parts := []string{cmp.Or(c.Summary, string(c.Outcome))}
	for _, part := range []struct{ label, text string }{{"", c.Story}, {"Again: ", c.Command}, {"Kept:  ", c.Kept}} {
		if part.text != "" {
			parts = append(parts, part.label+strings.Trim(part.text, "\n"))
		}
	}
	return strings.Join(parts, "\n\n") + "\n"
}

// Report is all checks.
type Report struct {
	Checks []Check
	With   string   // the version and the settings
	Notes  []string // about what passed, too
	Took   time.Duration
}

// Only returns the checks with some outcomes, one outcome after the other.
func (r Report) Only(outcomes ...Outcome) (list []Check) {
	for _, o := range outcomes {
		for _, c := range r.Checks {
			if c.Outcome == o {
				list = append(list, c)
			}
		}
	}
	return list
}

// String is the conclusion and how often each outcome occurs.
func (r Report) String() string {
	parts := []string{fmt.Sprint(r.Conclusion(), ":")}
	for _, o := range outcomes {
		if n := len(r.Only(o)); n > 0 {
			parts = append(parts, fmt.Sprintf("%d %v,", n, o))
		}
	}
	return strings.Join(append(parts, fmt.Sprintf("%.1f s", r.Took.Seconds())), " ")
}

// Conclusion sums up all checks. It is undecided if a check was not run, or if none was as expected.
func (r Report) Conclusion() runner.Conclusion {
	switch {
	case len(r.Only(Contradiction)) > 0:
		return runner.Contradiction
	case len(r.Only(Undecided, NotRun)) > 0 || len(r.Only(AsExpected)) == 0:
		return runner.Undecided
	}
	return runner.AsExpected
}
