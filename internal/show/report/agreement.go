package report

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/show/summary"
	"github.com/lockstorm/lockstorm/scenarios"
)

// Side is the results of a debate on one backend.
type Side struct {
	runner.Backend
	Found    Tallies
	First    map[string]uint64 // first seed of each scenario
	Versions map[string]string
}

// Agreement compares the results of backends with those of the first one.
type Agreement struct {
	Sides    []Side
	Rows     []ComparedRow
	Obsolete []scenarios.Difference // reasons for differences that do not exist
}

// ComparedRow is a row on all sides.
type ComparedRow struct {
	Topic string
	scenarios.File
	Cells []Cell // by side
}

// Cell is a row on one side.
type Cell struct {
	ComparisonStatus
	Tally       runner.Tally
	Judged      []checker.Property // properties with an expectation that can be checked here
	Refusal     error              // why the backend cannot run it
	Differences []Difference
}

// ComparisonStatus is the result of comparing a row on a side.
type ComparisonStatus uint8

// The results.
const (
	Agrees      ComparisonStatus = iota + 1 // also the first side itself
	Differs                                 // for known reasons
	Unexplained                             // at least one difference has no known reason
	TooSlow                                 // the machine was too slow in some runs
	NotRun                                  // though the backend could
	Refused                                 // by the backend
)

// Difference is a property with another verdict than on the first side.
type Difference struct {
	checker.Property
	Here, There checker.Verdict
	Reason      string // "": none is known
}

// Agree compares the rows of topics on all sides, given the known reasons for differences.
func Agree(topics []scenarios.Topic, sides []Side, known []scenarios.Difference) Agreement {
	a := Agreement{Sides: sides}
	of := map[scenarios.Difference]bool{} // existing differences, without reasons
	for _, t := range topics {
		for _, r := range t.Rows {
			row := ComparedRow{Topic: t.Name, File: r}
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

func reasonOf(at scenarios.Difference, known []scenarios.Difference) string {
	for _, d := range known {
		reason := d.Reason
		if d.Reason = ""; d == at {
			return reason
		}
	}
	return ""
}

// cell is the results of a row on a side, not yet compared.
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
		want, wanted := e.Scenario().Expect.Want(p)
		lacked := want != checker.NotApplicable && tally.Seen[p][checker.NotApplicable] == tally.Runs
		if wanted && !lacked {
			c.Judged = append(c.Judged, p)
		}
	}
	if tally.Slipped > 0 {
		c.ComparisonStatus = TooSlow
	}
	return c
}

// compare finds the properties that were checked on both sides with different verdicts.
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

// settled is the cell with its status.
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

// Short is the status in a few words.
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

// String is the results in short.
func (c Cell) String() string {
	switch c.ComparisonStatus {
	case Refused, NotRun:
		return "–"
	}
	type group struct{ codes, text string } // neighbours with the same result
	var found []group
	for _, p := range c.Judged {
		v := c.Tally.Observed(p)
		if v == checker.Holds || v == checker.NotApplicable && c.Tally.Scenario.Expect[p] == v {
			continue
		}
		text := fmt.Sprintf("%s %d/%d", summary.Sign(v), c.Tally.Seen[p][v], c.Tally.Runs)
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
