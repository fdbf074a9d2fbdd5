package cli

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/show/report"
	"github.com/lockstorm/lockstorm/internal/show/summary"
	"github.com/lockstorm/lockstorm/internal/terminal"
	"github.com/lockstorm/lockstorm/internal/textfmt"
	"github.com/lockstorm/lockstorm/scenarios"
)

// column is a column of a table that shows results.
type column struct {
	head   string
	row    func(runner.Tally) string
	series func(report.Curve) string
}

// whole is the columns of the main table.
func (d *debate) whole() []column {
	return d.withLosses(
		column{"found", summary.Signs, report.Curve.Short},
		column{"shown", summary.Showing, report.Curve.Showing},
		column{"seed", summary.Witness, none},
	)
}

// short is the columns of the table as Markdown.
func (d *debate) short() []column {
	return d.withLosses(column{"found", outline, report.Curve.Short})
}

// none is the cell of a series in a column that only rows have.
func none(report.Curve) string { return "–" }

// heads returns the heads of columns, after others.
func heads(columns []column, before ...string) []string {
	for _, c := range columns {
		before = append(before, c.head)
	}
	return before
}

// outline names the violated properties, and says if anything was not as expected.
func outline(t runner.Tally) string {
	text := "✓"
	for i, g := range summary.Rates(t) {
		if i == 0 {
			text = "✗"
		}
		text += " " + strings.Join(g.Codes, " ")
	}
	if o := t.Conclusion(); o != runner.AsExpected {
		text += ", " + o.String()
	}
	return text
}

// debateLine is a row or a series in a table of the debate.
type debateLine struct {
	topic  string // "" if the table has one topic
	name   string
	claims []scenarios.Claim
	series *scenarios.Series // nil: it is a row
}

// lines returns the lines of a table, in its order.
func (d debate) lines() (all []debateLine) {
	for _, t := range d.topics {
		topic := ""
		if len(d.topics) > 1 {
			topic = t.Name
		}
		for _, r := range t.Rows {
			all = append(all, debateLine{topic: topic, name: r.Name, claims: r.Claims})
		}
		for _, s := range t.Series {
			all = append(all, debateLine{topic: topic, name: report.SeriesName(s), claims: s.Claims, series: &s})
		}
	}
	return all
}

// claimed returns the cells with the claims, clipped to a width in characters.
func (l debateLine) claimed(width int) []string {
	cells := report.Claimed(l.claims)
	for i := range cells {
		cells[i] = textfmt.Clip(cells[i], width)
	}
	return cells
}

// cells returns the cells with the results, or nil if there are none.
func (l debateLine) cells(found report.Tallies, columns []column) (cells []string) {
	if l.series != nil {
		if curve := found.Curve(*l.series); len(curve.Tallies) > 0 {
			for _, c := range columns {
				cells = append(cells, c.series(curve))
			}
		}
		return cells
	}
	if t, ok := found[l.name]; ok {
		for _, c := range columns {
			cells = append(cells, c.row(t))
		}
	}
	return cells
}

// table has a line for each row and series with results, under their topics. Claims are clipped to a
// width in characters.
func (d debate) table(width int, c []column) *textfmt.Table {
	if d.unclaimed {
		return tableOf(d.lines(), heads(c), func(l debateLine) []string { return l.cells(d.found, c) })
	}
	return tableOf(d.lines(), heads(c, report.Claimants()...), func(l debateLine) []string {
		cells := l.cells(d.found, c)
		if cells == nil {
			return nil
		}
		return append(l.claimed(width), cells...)
	})
}

// tableOf makes a table of lines, without those that have no cells.
func tableOf(lines []debateLine, head []string, cells func(debateLine) []string) *textfmt.Table {
	t := &textfmt.Table{Head: append([]string{"row"}, head...)}
	for _, l := range lines {
		if these := cells(l); these != nil {
			if l.topic != "" {
				t.Section(l.topic)
			}
			t.Add(append([]string{l.name}, these...)...)
		}
	}
	return t
}

// withResults returns the lines that have any.
func (d *debate) withResults() []debateLine {
	c := d.whole()
	return slices.DeleteFunc(d.lines(), func(l debateLine) bool { return l.cells(d.found, c) == nil })
}

// claimWidth is the largest width of a claim on a terminal in characters.
const claimWidth = 21

// printMain prints the main table. On a terminal without room for all columns the claims follow in a table
// of their own.
func (d *debate) printMain(out io.Writer) {
	c := d.whole()
	all := d.table(claimWidth, c)
	if width := lookOn(out).Width; d.unclaimed || width == 0 || all.Width() <= width {
		printTable(out, all)
		return
	}
	lines := d.withResults()
	printTable(out, tableOf(lines, heads(c), func(l debateLine) []string { return l.cells(d.found, c) }))
	if len(lines) > 0 {
		_, _ = fmt.Fprintln(out)
		printTable(out, tableOf(lines, report.Claimants(), func(l debateLine) []string { return l.claimed(claimWidth) }))
	}
}

// print prints the results of the debate so far.
func (d *debate) print(out io.Writer, format string) error {
	switch format {
	case asJSON:
		return d.Print(out)
	case asCSV:
		return report.WriteCSV(out, d.Reference)
	case asMarkdown:
		p := &page{out: out}
		d.table(math.MaxInt, d.short()).Markdown(p)
		p.say("\n✗ is violated in some run, ✓ holds in all; properties that a ✗ row does not name hold. %s.", summary.Codes())
		return p.err
	}
	terminal.Fit(out)
	d.printMain(out)
	_, _ = fmt.Fprintf(out, "\n%s\n%s\n", summary.SignLegend, summary.CodesWithin(terminal.On(out).Prose()))
	_, _ = fmt.Fprintf(out, "%s \"lockstorm run ROW --seed SEED%s\" repeats it.\n", summary.ShownLegend, tail(d.again))
	d.printSources(out)
	rows, curves := d.findings()
	printRates(out, rows)
	printSeries(out, curves, tail(d.again))
	for _, t := range d.tallies() {
		if t.Slipped > 0 {
			_, _ = fmt.Fprintf(out, "%s: %s\n", t.Scenario.Name, summary.Slowness(t))
		}
	}
	d.printRest(out)
	return nil
}

// mostSourced is the largest number of rows whose claims are printed in full.
const mostSourced = 3

// printSources prints the claims of a few rows with their sources.
func (d *debate) printSources(out io.Writer) {
	lines := d.withResults()
	if d.unclaimed || len(lines) > mostSourced {
		return
	}
	for _, l := range lines {
		for _, c := range l.claims {
			_, _ = fmt.Fprintf(out, "\n%s: %s\n  %s\n  %s\n", l.name, c.Says, c.Article(), c.Link())
		}
	}
}

// printRates prints how often properties were violated.
func printRates(out io.Writer, rows []finding) {
	t := &textfmt.Table{Head: []string{"row", "violated", "runs", "share", "95 % interval"}}
	clean := runner.Rate{}
	for _, r := range rows {
		clean = runner.Rate{N: max(clean.N, r.tally.Runs)}
		for _, g := range summary.Rates(r.tally) {
			t.Add(r.row.Name, strings.Join(g.Codes, " "), g.Rate.String(), g.Rate.Percent(), g.Rate.Interval())
		}
	}
	if clean.N == 0 {
		return
	}
	if len(t.Lines) > 0 {
		_, _ = fmt.Fprintln(out)
		printTable(out, t)
	}
	_, _ = fmt.Fprintf(out, "\nWilson intervals, in percent. No violation in %d runs is %s.\n", clean.N, clean.Interval())
}

// printSeries prints a table for each series.
func printSeries(out io.Writer, curves []report.Curve, again string) {
	for _, c := range curves {
		_, _ = fmt.Fprintf(out, "\n%s: %s\n", report.SeriesName(c.Series), c.Summary)
		printTable(out, c.Table())
		_, _ = fmt.Fprintln(out, c.Threshold())
		_, _ = fmt.Fprintf(out, "Point %s is \"lockstorm run %s%s\".\n", c.Points[0].Value, c.Points[0].Name, again)
	}
	if len(curves) > 0 {
		_, _ = fmt.Fprintf(out, "\n%s\n", terminal.Flow(out, report.SeriesLegend))
	}
}

// withLosses adds the column with the share of updates or grants that was lost, if the rows have one.
func (d *debate) withLosses(columns ...column) []column {
	if d.losses == nil {
		return columns
	}
	return append(columns, column{"lost", func(t runner.Tally) string { return report.Loss(d.losses[t.Scenario.Name], t) }, none})
}
