package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/lockstorm/lockstorm/internal/report"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/terminal"
	"github.com/lockstorm/lockstorm/internal/textfmt"
	"github.com/lockstorm/lockstorm/results"
	"github.com/lockstorm/lockstorm/scenarios"
)

// print prints what is known of the debate.
func (d debate) print(out io.Writer, reference results.Reference) error {
	switch {
	case d.show.format == asJSON:
		return reference.Print(out)
	case d.show.format == asMarkdown && !d.show.short:
		return d.page(out, reference)
	case d.show.format == asMarkdown:
		return d.digest(out)
	}
	terminal.Fit(out)
	printTable(out, d.table(cellWidth(asText), whole))
	_, _ = fmt.Fprintf(out, "\n%s\n%s\n", report.SignLegend, report.CodesWithin(terminal.On(out).Prose()))
	_, _ = fmt.Fprintf(out, "%s \"lockstorm run ROW --seed SEED%s\" repeats it.\n", report.ShownLegend, d.again)
	if !d.show.short {
		rows, curves := d.findings(d.topics...)
		printRates(out, rows)
		printSeries(out, curves)
	}
	d.printSlipped(out)
	for _, r := range d.refused {
		_, _ = fmt.Fprintf(out, "not run: %s\n", r)
	}
	if d.stopped {
		_, _ = fmt.Fprintln(out, stoppedNote)
	}
	return nil
}

// printSlipped names the scenarios of which runs slipped.
func (d debate) printSlipped(out io.Writer) {
	rows, curves := d.findings(d.topics...)
	var all []runner.Tally
	for _, r := range rows {
		all = append(all, r.tally)
	}
	for _, c := range curves {
		all = append(all, c.Tallies...)
	}
	for _, t := range all {
		if t.Slipped > 0 {
			_, _ = fmt.Fprintf(out, "%s: %s\n", t.Scenario.Name, report.Slowness(t))
		}
	}
}

// cellWidth is how many characters of a claim there is room for.
func cellWidth(format string) int {
	if format == asText {
		return 21
	}
	return 1000
}

// columns are what a table says of a row, and of a series, behind what the two
// sides say.
type columns struct {
	head     []string
	row      func(runner.Tally) []string
	series   func(report.Curve) []string
	variants bool // have lines, too
}

// whole is the columns of the main table.
var whole = columns{
	head: []string{"found", "shown", "seed"},
	row: func(t runner.Tally) []string {
		return []string{report.Signs(t), report.Showing(t), report.Witness(t)}
	},
	series: func(c report.Curve) []string { return []string{c.Short(), c.Showing(), "–"} },

	variants: true,
}

// table has a line for each row and each series that is found, under their topics.
// Claims are clipped to so many characters.
func (d debate) table(width int, columns columns) *textfmt.Table {
	t := &textfmt.Table{Head: append([]string{"row", "Kleppmann", "antirez, redis.io"}, columns.head...)}
	for _, topic := range d.topics {
		add := func(name string, c scenarios.Claims, cells []string) {
			if len(d.topics) > 1 {
				t.Section(topic.Name)
			}
			t.Add(append([]string{name, textfmt.Clip(textfmt.Dash(c.Kleppmann), width), textfmt.Clip(textfmt.Dash(c.Antirez), width)}, cells...)...)
		}
		rows, curves := d.findings(topic)
		for _, r := range rows {
			if columns.variants || r.row.VariantOf == "" {
				add(r.row.Name, r.row.Claims, columns.row(r.tally))
			}
		}
		for _, c := range curves {
			add(report.SeriesName(c.Series), c.Claims, columns.series(c))
		}
	}
	return t
}

// printRates prints how often what was violated was so.
func printRates(out io.Writer, rows []finding) {
	t := &textfmt.Table{Head: []string{"row", "violated", "runs", "share", "95 % interval"}}
	clean := runner.Rate{}
	for _, r := range rows {
		clean = runner.Rate{N: max(clean.N, r.tally.Runs)}
		for _, g := range report.Rates(r.tally) {
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
func printSeries(out io.Writer, curves []report.Curve) {
	for _, c := range curves {
		_, _ = fmt.Fprintf(out, "\n%s: %s\n", report.SeriesName(c.Series), c.Summary)
		printTable(out, c.Table())
		_, _ = fmt.Fprintln(out, c.Threshold())
		_, _ = fmt.Fprintf(out, "Point %s is \"lockstorm run %s\".\n", c.Points[0].Value, c.Points[0].Name)
	}
	if len(curves) > 0 {
		_, _ = fmt.Fprintf(out, "\n%s\n", terminal.Flow(out, report.SeriesLegend))
	}
}
