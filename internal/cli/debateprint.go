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
	"github.com/lockstorm/lockstorm/results"
	"github.com/lockstorm/lockstorm/scenarios"
)

// print prints the results of the debate so far.
func (d debate) print(out io.Writer, reference results.Reference) error {
	if d.again == nil {
		d.again = report.BackendArgs(reference.Backend, reference.Versions)
	}
	switch {
	case d.show.format == asJSON:
		return reference.Print(out)
	case d.show.format == asCSV:
		return report.WriteCSV(out, reference)
	case d.show.format == asMarkdown && !d.show.short:
		return d.page(out, reference)
	case d.show.format == asMarkdown:
		return d.summary(out)
	}
	terminal.Fit(out)
	d.printMain(out)
	_, _ = fmt.Fprintf(out, "\n%s\n%s\n", summary.SignLegend, summary.CodesWithin(terminal.On(out).Prose()))
	_, _ = fmt.Fprintf(out, "%s \"lockstorm run ROW --seed SEED%s\" repeats it.\n", summary.ShownLegend, tail(d.again))
	if !d.show.short {
		rows, curves := d.findings(d.topics...)
		printRates(out, rows)
		printSeries(out, curves, tail(d.again))
	}
	d.printSlipped(out)
	for _, r := range d.refused {
		_, _ = fmt.Fprintf(out, "not run: %s\n", r)
	}
	d.printStopped(out)
	return nil
}

// printSlipped names the scenarios with discarded runs.
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
			_, _ = fmt.Fprintf(out, "%s: %s\n", t.Scenario.Name, summary.Slowness(t))
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

// page is the debate as a page of documentation.
func (d debate) page(out io.Writer, reference results.Reference) error {
	p := &page{out: out, again: tail(d.again)}
	p.say(`# The debate, row by row

Made by "make reference" from the results in results/reference; %s.
A row is one scenario, run with many seeds on the %s backend: what each side says of it, what the lock is, what is done to the world, which verdicts were expected, and what was found. A series is the same at several values of one thing.
Shares are of the runs in which the property could be decided, with 95 %% Wilson intervals in percent. A story is made from the history of the first run that violates the property; the command below it repeats that run, event by event.
`, madeWith(reference.Versions), reference.Backend)
	for _, t := range d.topics {
		p.say("- [%s](#%s)", t.Name, anchor(t.Name))
	}
	p.say("\n## All rows")
	all := d.table(math.MaxInt, whole)
	for _, l := range all.Lines {
		if len(l) > 1 {
			l[0] = fmt.Sprintf("[%s](#%s)", l[0], anchor(l[0]))
		}
	}
	p.table(all)
	p.say("%s. %s.\n\n%s", summary.SignLegend, summary.Codes(), summary.ShownLegend)
	for _, t := range d.topics {
		p.say("\n## %s", t.Name)
		rows, curves := d.findings(t)
		for _, r := range rows {
			p.row(r.tally)
		}
		for _, c := range curves {
			p.series(c)
		}
	}
	p.say("\n## The columns of series\n\n%s", report.SeriesLegend)
	return p.err
}

// anchor returns the link to a heading.
func anchor(heading string) string {
	kept := strings.Map(func(r rune) rune {
		if r == ' ' || r == '-' || 'a' <= r && r <= 'z' || '0' <= r && r <= '9' {
			return r
		}
		return -1
	}, strings.ToLower(heading))
	return strings.ReplaceAll(kept, " ", "-")
}

// row is the section on one scenario.
func (p *page) row(t runner.Tally) {
	s := t.Scenario
	p.heading(s.Name, s.Summary, s.Claims)
	if sources := scenarios.Sources(s.Name); len(sources) > 0 {
		p.say("- Sources: %s", strings.Join(sources, "; "))
	}
	p.setting(s)
	p.say("\nFound, %s in %d runs: %s.", t.Conclusion(), t.Runs, summary.Found(t))
	p.say("\nMeasured over all runs: %s.", inWords(t.Measured.Figures()))
	p.stories(t)
	p.say("\n`lockstorm run %s%s --seed %d`", s.Name, p.again, t.Witness)
	p.remark(s.Name)
}

// stories prints the first violation of each property.
func (p *page) stories(t runner.Tally) {
	for i, s := range summary.Stories(t) {
		if i == 0 {
			p.say("")
		}
		p.say("- **%s**, seed %d: %s.", s.Property.Title(), s.Seed, s.Text)
	}
}

// heading begins the section on a row or a series.
func (p *page) heading(name, summary string, c scenarios.Claims) {
	p.say("\n### %s\n\n%s.\n", name, textfmt.Sentence(summary))
	if c != (scenarios.Claims{}) {
		p.say("- Kleppmann: %s", textfmt.Dash(c.Kleppmann))
		p.say("- antirez, redis.io: %s", textfmt.Dash(c.Antirez))
	}
}

// setting prints the lock, the clients, the world and the plan.
func (p *page) setting(s scenarios.Scenario) {
	for _, f := range summary.Setting(s) {
		if f.Code {
			f.Text = "`" + f.Text + "`"
		}
		p.say("- %s: %s", f.Name, f.Text)
	}
}

// series is the section on one series.
func (p *page) series(c report.Curve) {
	p.heading(report.SeriesName(c.Series), c.Summary, c.Claims)
	first := c.Tallies[0].Scenario
	p.say("- At the first value, `lockstorm show %s`:", first.Name)
	p.setting(first)
	p.table(c.Table())
	p.say("%s", c.Threshold())
	for _, t := range c.Tallies {
		if r, ok := t.First[c.Property]; ok {
			p.say("\nThe first violation, `lockstorm run %s%s --seed %d`: %s.", t.Scenario.Name, p.again, r.Seed, r.Report.Finding(c.Property).Story())
			break
		}
	}
	p.remark(c.Name)
}

// remark prints the remark on a row or a series.
func (p *page) remark(name string) {
	if text := scenarios.Remark(name); text != "" {
		p.say("\n*Remark.* %s", text)
	}
}

// summary is the main table without variants, showing only what breaks.
func (d debate) summary(out io.Writer) error {
	p := &page{out: out}
	d.table(math.MaxInt, outlined).Markdown(p)
	p.say("\n✗ is violated in some run, ✓ holds in all; a row that violates something keeps the rest. %s.", summary.Codes())
	return p.err
}
