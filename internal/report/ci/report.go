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

// Outcome is what became of a check.
type Outcome uint8

// The outcomes.
const (
	// AsExpected: it has shown what it should.
	AsExpected Outcome = iota + 1
	// Contradiction: it has shown what it must not.
	Contradiction
	// Undecided: it was run, at least in part, and says nothing.
	Undecided
	// NotRun: there was no time for it, so nothing is known.
	NotRun
	// NotApplicable: there is nothing to judge here, which is nobody's fault and counts
	// for nothing.
	NotApplicable
)

// Outcomes lists them, in the order in which people are told.
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

// Of is the outcome of what was run.
func Of(c runner.Conclusion) Outcome {
	switch c {
	case runner.AsExpected:
		return AsExpected
	case runner.Contradiction:
		return Contradiction
	}
	return Undecided
}

// Check is one thing that was looked at, and what became of it.
type Check struct {
	Name    string
	Outcome Outcome

	// File is the file that the check was read from; empty: none.
	File string

	// Summary is the outcome in a line; empty: there is nothing to add to it.
	Summary string

	// Story tells what happened, in lines; empty: nothing did.
	Story string

	// Command is the command line that repeats it; empty: nothing does.
	Command string

	// Files are the files and directories in which evidence was kept.
	Files []string

	Took time.Duration
}

// Headline is the outcome in a line, with the command that repeats it.
func (c Check) Headline() string {
	line := cmp.Or(c.Summary, c.Outcome.String())
	if c.Command != "" {
		line += ". Again: " + c.Command
	}
	return line
}

// Text is everything that is to be said of the check, in lines.
func (c Check) Text() string {
	parts := []string{cmp.Or(c.Summary, c.Outcome.String())}
	if c.Story != "" {
		parts = append(parts, strings.TrimRight(c.Story, "\n"))
	}
	if c.Command != "" {
		parts = append(parts, "Again: "+c.Command)
	}
	if len(c.Files) > 0 {
		parts = append(parts, "Kept: "+strings.Join(c.Files, "\n      "))
	}
	return strings.Join(parts, "\n\n") + "\n"
}

// Suite is checks of one sort.
type Suite struct {
	Name   string
	Checks []Check

	// Note says what is to be known of all of them; empty: nothing is.
	Note string
}

// Count is the number of checks of an outcome.
func (s Suite) Count(o Outcome) (n int) {
	for _, c := range s.Checks {
		if c.Outcome == o {
			n++
		}
	}
	return n
}

// Skipped names the checks of an outcome, and says why they have it, each reason once.
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

// Took is how long the checks took together.
func (s Suite) Took() (took time.Duration) {
	for _, c := range s.Checks {
		took += c.Took
	}
	return took
}

// Counts names the outcomes that occur, as in "2 as expected, 1 undecided".
func (s Suite) Counts() string {
	var parts []string
	for _, o := range Outcomes() {
		if n := s.Count(o); n > 0 {
			parts = append(parts, fmt.Sprintf("%d %v", n, o))
		}
	}
	return cmp.Or(strings.Join(parts, ", "), "no checks")
}

// Report is everything that was checked.
type Report struct {
	Suites []Suite

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

// Count is the number of checks of an outcome, in all suites.
func (r Report) Count(o Outcome) (n int) {
	for _, s := range r.Suites {
		n += s.Count(o)
	}
	return n
}

// Of returns the checks of some outcomes, one outcome after the other, with the suites that
// they are of.
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

// Conclusion is what all checks amount to. A check that was not run decides nothing, and
// neither does a report in which nothing was as expected: silence is no pass.
func (r Report) Conclusion() runner.Conclusion {
	switch {
	case r.Count(Contradiction) > 0:
		return runner.Contradiction
	case r.Count(Undecided)+r.Count(NotRun) > 0 || r.Count(AsExpected) == 0:
		return runner.Undecided
	}
	return runner.AsExpected
}
