package report

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/scenarios"
)

// Side is what a debate has shown on one backend.
type Side struct {
	runner.Backend
	Found    Tallies
	Versions map[string]string
}

// Agreement is how what backends have shown compares with what the first of them has.
type Agreement struct {
	Sides []Side
	Rows  []ComparedRow
	Obsolete []scenarios.Difference // that are none
}

// ComparedRow is a row on all sides.
type ComparedRow struct {
	Topic string
	scenarios.Scenario
	Cells []Cell // by side
}

// Cell is a row on one side.
type Cell struct {
	ComparisonStatus
	Tally       runner.Tally
	Judged      []checker.Property // of which the row expects something that can be judged here
	Refusal     error              // why the backend cannot run it
	Differences []Difference
}

// ComparisonStatus is what a row has come to on a side.
type ComparisonStatus uint8

// The standings.
const (
	Agrees      ComparisonStatus = iota + 1 // the first does, with itself
	Differs                         // for reasons that are known
	Unexplained                     // by something of which no reason is known
	TooSlow                         // runs slipped
	NotRun                          // though it could be
	Refused                         // by the backend
)

// Difference is a property that got another verdict than on the first side.
type Difference struct {
	checker.Property
	Here, There checker.Verdict
	Reason      string // empty: none is known
}

// Agree compares the rows of topics on all sides, by the reasons that are known.
func Agree(topics []scenarios.Topic, sides []Side, known []scenarios.Difference) Agreement {
	a := Agreement{Sides: sides}
	of := map[scenarios.Difference]bool{} // those that there are, without their reasons
	for _, t := range topics {
		for _, r := range t.Rows {
			row := ComparedRow{Topic: t.Name, Scenario: r.Scenario}
			for i, s := range sides {
				c := s.cell(r.Scenario)
				if i > 0 {
					c.compare(row.Cells[0])
				}
				for j := range c.Differences {
					d := &c.Differences[j]
					at := scenarios.Difference{Row: r.Name, Backend: s.Name, Property: d.Property}
					of[at] = true
					d.Reason = reasonOf(at, known)
				}
				row.Cells = append(row.Cells, c.settled())
			}
			a.Rows = append(a.Rows, row)
		}
	}
	for _, d := range known {
		at := d
		at.Reason = ""
		ran := func(s Side) bool { return s.Name == d.Backend && s.Found[d.Row].Runs > 0 }
		if !of[at] && slices.ContainsFunc(sides, ran) {
			a.Obsolete = append(a.Obsolete, d)
		}
	}
	return a
}

// reasonOf is the reason that is known of a difference.
func reasonOf(at scenarios.Difference, known []scenarios.Difference) string {
	for _, d := range known {
		reason := d.Reason
		if d.Reason = ""; d == at {
			return reason
		}
	}
	return ""
}

// Cell is what a side has shown of a row, not yet compared.
func (s Side) cell(row scenarios.Scenario) Cell {
	e, err := runner.Prepare(s.Backend, row)
	var unfit *runner.UnfitError
	if errors.As(err, &unfit) {
		return Cell{ComparisonStatus: Refused, Refusal: unfit.Reason}
	}
	tally, ran := s.Found[row.Name]
	if !ran {
		return Cell{ComparisonStatus: NotRun}
	}
	c := Cell{Tally: tally}
	for _, p := range checker.Properties() {
		if _, wanted := e.Scenario().Expect.Want(p); wanted {
			c.Judged = append(c.Judged, p)
		}
	}
	if tally.Slipped > 0 {
		c.ComparisonStatus = TooSlow
	}
	return c
}

// compare finds the properties that were judged on both sides and got other verdicts.
func (c *Cell) compare(first Cell) {
	if c.ComparisonStatus != 0 {
		return
	}
	for _, p := range c.Judged {
		here, there := c.Tally.Observed(p), first.Tally.Observed(p)
		if slices.Contains(first.Judged, p) && here != there {
			c.Differences = append(c.Differences, Difference{Property: p, Here: here, There: there})
		}
	}
}

// settled is the cell with its standing.
func (c Cell) settled() Cell {
	if c.ComparisonStatus != 0 {
		return c
	}
	c.ComparisonStatus = Agrees
	for _, d := range c.Differences {
		if d.Reason == "" {
			c.ComparisonStatus = Unexplained
			break
		}
		c.ComparisonStatus = Differs
	}
	return c
}

// Count counts the rows that have come to something on a side.
func (a Agreement) Count(side int, to ...ComparisonStatus) (n int) {
	for _, r := range a.Rows {
		if slices.Contains(to, r.Cells[side].ComparisonStatus) {
			n++
		}
	}
	return n
}

// Conclusion is that of all rows and reasons.
func (a Agreement) Conclusion() runner.Conclusion {
	undecided := false
	for i := range a.Sides {
		if a.Count(i, Unexplained) > 0 {
			return runner.Contradiction
		}
		undecided = undecided || a.Count(i, TooSlow, NotRun) > 0
	}
	switch {
	case len(a.Obsolete) > 0:
		return runner.Contradiction
	case undecided:
		return runner.Undecided
	}
	return runner.AsExpected
}

// Short says in short how a cell compares.
func (c Cell) Short() string {
	switch c.ComparisonStatus {
	case Agrees:
		return "yes"
	case Differs:
		return "no, for a reason"
	case Unexplained:
		return "no"
	case Refused:
		return "cannot be run"
	}
	return "undecided"
}

// String is what was found, in short.
func (c Cell) String() string {
	switch c.ComparisonStatus {
	case Refused, NotRun:
		return "–"
	}
	type group struct{ codes, text string } // of neighbours that were found alike
	var found []group
	for _, p := range c.Judged {
		v := c.Tally.Observed(p)
		if v == checker.Holds || v == checker.NotApplicable && c.Tally.Scenario.Expect[p] == v {
			continue
		}
		text := fmt.Sprintf("%s %d/%d", Sign(v), c.Tally.Seen[p][v], c.Tally.Runs)
		if last := len(found) - 1; last >= 0 && found[last].text == text {
			found[last].codes += " " + p.Code()
		} else {
			found = append(found, group{p.Code(), text})
		}
	}
	if len(found) == 0 {
		return fmt.Sprintf("✓ %d/%[1]d", c.Tally.Runs)
	}
	parts := make([]string, len(found))
	for i, g := range found {
		parts[i] = g.codes + " " + g.text
	}
	return strings.Join(parts, ", ")
}
