package main

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/words"
	"github.com/lockstorm/lockstorm/sweep"
)

// printSweep prints the results for a terminal.
func printSweep(out io.Writer, r sweep.Results) {
	_, _ = fmt.Fprintf(out, "%s: %s\n", r.Sweep, r.Summary)
	if len(r.Points()) > 0 {
		_, _ = fmt.Fprintf(out, "%s (%s) violated, of %s a point\n\n", r.Property.Title(), r.Property.Code(), words.Count(r.Runs, "run"))
		pointTable(r, r.Points(), true).wrapped(out, screen)
	}
	if len(r.Boundaries()) > 0 {
		_, _ = fmt.Fprintf(out, "\nwhere %s turns, by %s, of %s each\n\n", r.Property.Title(), r.Params[0].Head(), words.Count(r.Runs, "run"))
		boundaryTable(r, r.Boundaries(), true).wrapped(out, screen)
	}
	for _, l := range verdictLines(r) {
		_, _ = fmt.Fprintf(out, "\n%s\n", l)
	}
}

// verdictLines say in sentences how measurements and formulas compare.
func verdictLines(r sweep.Results) (lines []string) {
	if f := r.Fit(); f.Compared > 0 {
		lines = append(lines, fmt.Sprintf("The formula is inside the 95 %% interval at %d of %s. The widest interval of all points is ± %.4f.", f.Inside, words.Count(f.Compared, "point"), f.HalfWidth))
	} else if f.Points > 0 {
		lines = append(lines, fmt.Sprintf("The widest interval is ± %.4f.", f.HalfWidth))
	}
	all := r.Boundaries()
	if len(all) == 0 {
		return lines
	}
	met := 0
	for _, o := range all {
		if o.Boundary.Met() {
			met++
		}
	}
	lines = append(lines, fmt.Sprintf("The boundary is where the formula has it, as exactly as it was looked for, at %d of %d.", met, len(all)))
	for _, name := range r.Rules() {
		lines = append(lines, ruleLine(all, name))
	}
	return lines
}

// ruleLine says how often a rule of thumb suffices, and where it does not.
func ruleLine(all []sweep.Outcome, name string) string {
	asked := 0
	var fails []string
	for _, o := range all {
		rule, ok := o.Boundary.Rule(name)
		if !ok {
			continue
		}
		asked++
		if rule.Verdict != checker.Holds {
			fails = append(fails, strconv.Itoa(o.Unit))
		}
	}
	text := fmt.Sprintf("The rule %q suffices at %d of %d", name, asked-len(fails), asked)
	if len(fails) > 0 {
		text += "; not at " + strings.Join(fails, ", ")
	}
	return text + "."
}

// pointTable is a line for each of some points, in sections by their curves if that is
// asked for.
func pointTable(r sweep.Results, points []sweep.Outcome, sections bool) *table {
	deaths := slices.ContainsFunc(points, func(o sweep.Outcome) bool { return o.Point.Measurements.HolderDeaths > 0 })
	undecided := slices.ContainsFunc(points, func(o sweep.Outcome) bool { return o.Point.Undecided > 0 })
	t := &table{head: []string{"#"}}
	for _, p := range r.Params {
		t.head = append(t.head, p.Head())
	}
	t.head = append(t.head, "violated", "%", "95 % interval", "formula", "inside")
	if undecided {
		t.head = append(t.head, "undecided")
	}
	t.head = append(t.head, "availability", "median outage", "longest outage", "longest wait")
	if deaths {
		t.head = append(t.head, "next grant after a death")
	}
	t.head = append(t.head, "acquire p50", "acquire p99")
	for _, o := range points {
		if sections {
			t.section(o.Curve)
		}
		m, rate := o.Point.Measurements, o.Point.Rate()
		cells := slices.Concat([]string{strconv.Itoa(o.Unit)}, values(o.At), []string{
			rate.String(), strings.TrimSuffix(rate.Percent(), " %"), rate.Interval(), predicted(o.Point), inside(o.Point),
		})
		if undecided {
			cells = append(cells, strconv.Itoa(o.Point.Undecided))
		}
		cells = append(cells, fmt.Sprintf("%.2f %%", 100*m.Availability),
			words.Duration(m.MedianOutage), words.Duration(m.LongestOutage), words.Duration(m.LongestWait))
		if deaths {
			cells = append(cells, words.Duration(m.NextGrantAfterDeath))
		}
		t.add(append(cells, words.Duration(m.AcquireP50), words.Duration(m.AcquireP99))...)
	}
	return t
}

// predicted is what a formula says, in percent.
func predicted(m *sweep.Measured) string {
	if m.Predicted == nil {
		return dash("")
	}
	return fmt.Sprintf("%.2f", 100**m.Predicted)
}

func inside(m *sweep.Measured) string {
	switch in, known := m.Inside(); {
	case !known:
		return dash("")
	case in:
		return "yes"
	}
	return "no"
}

// boundaryTable is a line for each of some boundaries, in sections by their curves if that
// is asked for.
func boundaryTable(r sweep.Results, boundaries []sweep.Outcome, sections bool) *table {
	t := &table{head: []string{"#"}}
	for _, p := range r.Params[1:] {
		t.head = append(t.head, p.Head())
	}
	t.head = append(t.head, "violated at", "holds at", "formula", "met")
	rules := r.Rules()
	t.head = append(t.head, rules...)
	for _, o := range boundaries {
		if sections {
			t.section(o.Curve)
		}
		b := o.Boundary
		met := "no"
		switch {
		case b.Open():
			met = "left open"
		case b.Met():
			met = "yes"
		}
		cells := slices.Concat([]string{strconv.Itoa(o.Unit)}, values(o.At), []string{place(b.LastViolated), place(b.FirstHolding), tried(b.Formula), met})
		for _, name := range rules {
			cell := dash("")
			if rule, ok := b.Rule(name); ok {
				cell = tried(rule.Trial)
			}
			cells = append(cells, cell)
		}
		t.add(cells...)
	}
	return t
}

// tried is an x and what was found there.
func tried(t sweep.Trial) string { return value(t.X) + " " + sign(t.Verdict) }

func place(x *float64) string {
	if x == nil {
		return dash("")
	}
	return value(*x)
}

// value writes a number as people read it: files have all of its digits.
func value(x float64) string { return strconv.FormatFloat(x, 'g', 6, 64) }

func values(at []float64) (list []string) {
	for _, x := range at {
		list = append(list, value(x))
	}
	return list
}
