package main

import (
	"errors"
	"slices"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/scenarios"
	"github.com/lockstorm/lockstorm/storm"
)

// agreement is how what backends have shown compares with what the first of them has.
type agreement struct {
	sides []side
	rows  []comparedRow
	stray []scenarios.Difference // that are none
}

// comparedRow is a row on all sides.
type comparedRow struct {
	topic string
	scenarios.Scenario
	cells []cell // by side
}

// cell is a row on one side.
type cell struct {
	standing
	tally       storm.Tally
	judged      []checker.Property // of which the row expects something that can be judged here
	refusal     error              // why the backend cannot run it
	differences []difference
}

// standing is what a row has come to on a side.
type standing uint8

const (
	agrees      standing = iota + 1 // the first does, with itself
	differs                         // for reasons that are known
	unexplained                     // by something of which no reason is known
	tooSlow                         // runs slipped
	notRun                          // though it could be
	refused                         // by the backend
)

// difference is a property that got another verdict than on the first side.
type difference struct {
	checker.Property
	here, there checker.Verdict
	reason      string // empty: none is known
}

// agree compares the rows of topics on all sides, by the reasons that are known.
func agree(topics []scenarios.Topic, sides []side, known []scenarios.Difference) agreement {
	a := agreement{sides: sides}
	of := map[scenarios.Difference]bool{} // those that there are, without their reasons
	for _, t := range topics {
		for _, r := range t.Rows {
			row := comparedRow{topic: t.Name, Scenario: r.Scenario}
			for i, s := range sides {
				c := s.cell(r.Scenario)
				if i > 0 {
					c.compare(row.cells[0])
				}
				for j := range c.differences {
					d := &c.differences[j]
					at := scenarios.Difference{Row: r.Name, Backend: s.Name, Property: d.Property}
					of[at] = true
					d.reason = reasonOf(at, known)
				}
				row.cells = append(row.cells, c.settled())
			}
			a.rows = append(a.rows, row)
		}
	}
	for _, d := range known {
		at := d
		at.Reason = ""
		if !of[at] && slices.ContainsFunc(sides, func(s side) bool { return s.Name == d.Backend }) {
			a.stray = append(a.stray, d)
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

// cell is what a side has shown of a row, not yet compared.
func (s side) cell(row scenarios.Scenario) cell {
	e, err := storm.Prepare(s.Backend, row)
	var unfit *storm.UnfitError
	if errors.As(err, &unfit) {
		return cell{standing: refused, refusal: unfit.Reason}
	}
	tally, ran := s.found[row.Name]
	if !ran {
		return cell{standing: notRun}
	}
	c := cell{tally: tally}
	for _, p := range checker.Properties() {
		if _, wanted := e.Scenario().Expect.Want(p); wanted {
			c.judged = append(c.judged, p)
		}
	}
	if tally.Slipped > 0 {
		c.standing = tooSlow
	}
	return c
}

// compare finds the properties that were judged on both sides and got other verdicts.
func (c *cell) compare(first cell) {
	if c.standing != 0 {
		return
	}
	for _, p := range c.judged {
		here, there := c.tally.Observed(p), first.tally.Observed(p)
		if slices.Contains(first.judged, p) && here != there {
			c.differences = append(c.differences, difference{Property: p, here: here, there: there})
		}
	}
}

// settled is the cell with its standing.
func (c cell) settled() cell {
	if c.standing != 0 {
		return c
	}
	c.standing = agrees
	for _, d := range c.differences {
		if d.reason == "" {
			c.standing = unexplained
			break
		}
		c.standing = differs
	}
	return c
}

// count counts the rows that have come to something on a side.
func (a agreement) count(side int, to ...standing) (n int) {
	for _, r := range a.rows {
		if slices.Contains(to, r.cells[side].standing) {
			n++
		}
	}
	return n
}

// conclusion is that of all rows and reasons.
func (a agreement) conclusion() storm.Conclusion {
	undecided := false
	for i := range a.sides {
		if a.count(i, unexplained) > 0 {
			return storm.Contradiction
		}
		undecided = undecided || a.count(i, tooSlow, notRun) > 0
	}
	switch {
	case len(a.stray) > 0:
		return storm.Contradiction
	case undecided:
		return storm.Undecided
	}
	return storm.AsExpected
}
