package ci

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/internal/runner"
)

// Outcome is the result of a check.
type Outcome uint8

// The outcomes.
const (
	// AsExpected: the check showed what it should.
	AsExpected Outcome = iota + 1
	// Contradiction: it showed what it must not.
	Contradiction
	// Undecided: it ran, at least in part, and decided nothing.
	Undecided
	// NotRun: there was no time for it.
	NotRun
	// NotApplicable: there is nothing to check. It counts for nothing.
	NotApplicable
)

// Outcomes lists all outcomes in the order of reports.
func Outcomes() []Outcome {
	return []Outcome{AsExpected, Contradiction, Undecided, NotRun, NotApplicable}
}

func (o Outcome) String() string {
	switch o {
	case AsExpected:
		return "as expected"
	case Contradiction:
		return "contradiction"
	case Undecided:
		return "undecided"
	case NotRun:
		return "not run"
	}
	return "nothing to judge"
}

// Of converts the conclusion of a run.
func Of(c runner.Conclusion) Outcome {
	switch c {
	case runner.AsExpected:
		return AsExpected
	case runner.Contradiction:
		return Contradiction
	}
	return Undecided
}

// Check is one check and its outcome.
type Check struct {
	Name    string
	Outcome Outcome

	// File is the file that the check was read from, if any.
	File string

	// Summary describes the outcome in a line; "": there is nothing to add.
	Summary string

	// Like is the earlier check that failed in the same way; "": none. The text of such a check is a
	// line.
	Like string

	// Story describes what happened, in lines; may be empty.
	Story string

	// Diagram is the run that shows the failure as a diagram in the language of Mermaid; may be empty.
	Diagram string

	// Command is the command line that repeats the check; "": it cannot be repeated.
	Command string

	// Page is the command line that makes a page about it for a browser; may be empty.
	Page string

	// Files are the saved files and directories with evidence.
	Files []string

	Took time.Duration
}

// Headline is the outcome in a line, with the command that repeats it.
func (c Check) Headline() string {
	line := c.said()
	if c.Command != "" {
		line += ". Again: " + c.Command
	}
	return line
}

// said is the outcome in a line.
func (c Check) said() string {
	line := cmp.Or(c.Summary, c.Outcome.String())
	if c.Like != "" {
		line += ", as in " + c.Like
	}
	return line
}

// Text is all about the check, in lines. The commands for a check that failed like an earlier one are
// those of the earlier one.
func (c Check) Text() string {
	parts := []string{c.said()}
	if c.Like != "" {
		if len(c.Files) > 0 {
			parts[0] += "; kept in " + c.Files[0]
		}
		return parts[0] + "\n"
	}
	if c.Story != "" {
		parts = append(parts, strings.TrimRight(c.Story, "\n"))
	}
	if c.Command != "" {
		again := "Again: " + c.Command
		if c.Page != "" {
			again += "\nPage:  " + c.Page
		}
		parts = append(parts, again)
	}
	if len(c.Files) > 0 {
		parts = append(parts, "Kept: "+strings.Join(c.Files, "\n      "))
	}
	return strings.Join(parts, "\n\n") + "\n"
}

// Suite is a group of checks.
type Suite struct {
	Name   string
	Checks []Check

	// Note is about all checks; may be empty.
	Note string
}

// Count is the number of checks with an outcome.
func (s Suite) Count(o Outcome) (n int) {
	for _, c := range s.Checks {
		if c.Outcome == o {
			n++
		}
	}
	return n
}

// Skipped returns the names of the checks with an outcome, and their distinct reasons.
func (s Suite) Skipped(o Outcome) (reasons string, names []string) {
	var list []string
	for _, c := range s.Checks {
		if c.Outcome != o {
			continue
		}
		names = append(names, c.Name)
		if !slices.Contains(list, c.Summary) {
			list = append(list, c.Summary)
		}
	}
	return strings.Join(list, "; "), names
}

// Took is the total time of the checks.
func (s Suite) Took() (took time.Duration) {
	for _, c := range s.Checks {
		took += c.Took
	}
	return took
}

// Counts lists the outcomes that occur, as in "2 as expected, 1 undecided".
func (s Suite) Counts() string {
	var parts []string
	for _, o := range Outcomes() {
		if n := s.Count(o); n > 0 {
			parts = append(parts, fmt.Sprintf("%d %v", n, o))
		}
	}
	return cmp.Or(strings.Join(parts, ", "), "no checks")
}

// Report is all checks.
type Report struct {
	Suites []Suite

	// Tested says whose locks were tested; empty: unknown.
	Tested string

	// With says what it was checked with: a repetition needs the same.
	With string

	Took time.Duration
}

// Checks is the number of all checks.
func (r Report) Checks() (n int) {
	for _, s := range r.Suites {
		n += len(s.Checks)
	}
	return n
}

// Count is the number of checks with an outcome, in all suites.
func (r Report) Count(o Outcome) (n int) {
	for _, s := range r.Suites {
		n += s.Count(o)
	}
	return n
}

// Of returns the checks with some outcomes, one outcome after the other, and their suites.
func (r Report) Of(outcomes ...Outcome) iter.Seq2[Suite, Check] {
	return func(yield func(Suite, Check) bool) {
		for _, o := range outcomes {
			for _, s := range r.Suites {
				for _, c := range s.Checks {
					if c.Outcome == o && !yield(s, c) {
						return
					}
				}
			}
		}
	}
}

// Conclusion sums up all checks. It is undecided if a check was not run, or if none was as
// expected.
func (r Report) Conclusion() runner.Conclusion {
	switch {
	case r.Count(Contradiction) > 0:
		return runner.Contradiction
	case r.Count(Undecided)+r.Count(NotRun) > 0 || r.Count(AsExpected) == 0:
		return runner.Undecided
	}
	return runner.AsExpected
}
