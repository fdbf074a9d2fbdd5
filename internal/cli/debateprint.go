package cli

import (
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/lockstorm/lockstorm/internal/report"
	"github.com/lockstorm/lockstorm/internal/report/summary"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/terminal"
	"github.com/lockstorm/lockstorm/internal/textfmt"
)

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
		p.say("\n✗ is violated in some run, ✓ holds in all; a row that violates something keeps the rest. %s.", summary.Codes())
		return p.err
	}
	terminal.Fit(out)
	d.printMain(out)
	_, _ = fmt.Fprintf(out, "\n%s\n%s\n", summary.SignLegend, summary.CodesWithin(terminal.On(out).Prose()))
	_, _ = fmt.Fprintf(out, "%s \"lockstorm run ROW --seed SEED%s\" repeats it.\n", summary.ShownLegend, tail(d.again))
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
