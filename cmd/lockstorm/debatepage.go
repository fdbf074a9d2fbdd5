package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/lockstorm/lockstorm/internal/report"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/textfmt"
	"github.com/lockstorm/lockstorm/results"
	"github.com/lockstorm/lockstorm/scenarios"
)

// page is the debate as a page of documentation.
func (d debate) page(out io.Writer, reference results.Reference) error {
	p := &page{out: out}
	p.say(`# The debate, row by row

Made by "make reference" from the results in results/reference; %s.
A row is one scenario, run with many seeds on the %s backend: what each side says of it, what the lock is, what is done to the world, which verdicts were expected, and what was found. A series is the same at several values of one thing.
Shares are of the runs in which the property could be decided, with 95 %% Wilson intervals in percent. A story is made from the history of the first run that violates the property; the command below it repeats that run, event by event.
`, madeWith(reference.Versions), reference.Backend)
	for _, t := range d.topics {
		p.say("- [%s](#%s)", t.Name, anchor(t.Name))
	}
	p.say("\n## All rows")
	all := d.table(cellWidth(asMarkdown), whole)
	for _, l := range all.Lines {
		if len(l) > 1 {
			l[0] = fmt.Sprintf("[%s](#%s)", l[0], anchor(l[0]))
		}
	}
	p.table(all)
	p.say("%s. %s.\n\n%s", report.SignLegend, report.Codes(), report.ShownLegend)
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

// anchor is what a heading is linked by.
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
	p.say("\nFound, %s in %d runs: %s.", t.Conclusion(), t.Runs, report.Found(t))
	p.say("\nMeasured over all runs: %s.", inWords(t.Measured.Figures()))
	p.stories(t)
	p.say("\n`lockstorm run %s --seed %d`", s.Name, t.Witness)
	p.remark(s.Name)
}

// stories tells the first violation of each property.
func (p *page) stories(t runner.Tally) {
	for i, s := range report.Stories(t) {
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

// setting tells of the lock, the clients, the world and the plan.
func (p *page) setting(s scenarios.Scenario) {
	for _, f := range report.Setting(s) {
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
			p.say("\nThe first violation, `lockstorm run %s --seed %d`: %s.", t.Scenario.Name, r.Seed, r.Report.Finding(c.Property).Story())
			break
		}
	}
	p.remark(c.Name)
}

// remark is what was written by hand about a row or a series.
func (p *page) remark(name string) {
	if text := scenarios.Remark(name); text != "" {
		p.say("\n*Remark.* %s", text)
	}
}
