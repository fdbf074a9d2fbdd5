package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/show/report"
	"github.com/lockstorm/lockstorm/internal/show/summary"
	"github.com/lockstorm/lockstorm/internal/textfmt"
	"github.com/lockstorm/lockstorm/results"
	"github.com/lockstorm/lockstorm/scenarios"
)

// writeDebate makes the page of the debate: what "lockstorm run ROW" does not print itself.
func writeDebate(c *checkout) (string, error) {
	reference, found, err := c.load("reference", results.DebateFile)
	if err != nil {
		return "", err
	}
	p := &text{}
	p.say(`# The debate, row by row

Made by `+"`go -C evidence run . debate`"+` from results/reference; %s.

A row is one scenario, run with many seeds in the simulator. A series is one scenario at several values of a parameter. "lockstorm run ROW" repeats a row, and prints the story of its first violations; "lockstorm debate ROW" prints the table of a series.

- *expected* and *seen* are verdicts: ✗ violated in some run, ✓ holds in all, · nothing to judge.
- *violated* is the share of the runs that violate those properties, with its 95 %% Wilson interval in percent.

%s.`, madeWith(reference.Versions), summary.Codes())
	for _, t := range scenarios.Topics() {
		p.say("\n## %s", t.Name)
		rows := &textfmt.Table{Head: slices.Concat([]string{"row"}, report.Claimants(), []string{"expected", "seen", "violated"})}
		for _, r := range t.Rows {
			tally, ran := found[r.Name]
			if !ran {
				continue
			}
			rows.Add(slices.Concat([]string{"**" + r.Name + "**: " + r.Summary}, report.Claimed(r.Claims), []string{expected(r.Scenario), seen(tally), violated(tally)})...)
		}
		p.table(rows)
		for _, s := range t.Series {
			if curve := found.Curve(s); len(curve.Tallies) > 0 {
				p.series(curve)
			}
		}
		p.notes(t)
	}
	p.say("\n## Claims that are not tested here\n")
	untested := &textfmt.Table{Head: []string{"claim", "source", "why it has no row"}}
	for _, u := range scenarios.UntestedClaims() {
		untested.Add(u.Says, cited(u.Claim), u.Why)
	}
	p.table(untested)
	return p.String(), nil
}

// expected returns the expected verdicts.
func expected(s scenarios.Scenario) string { return summary.Grouped(s.Expect.Want) }

// seen returns the verdicts over all runs, and the conclusion if it is not as expected.
func seen(t runner.Tally) string {
	if summary.Worst([]runner.Tally{t}) == runner.AsExpected {
		return "as expected"
	}
	return summary.Signs(t) + ", " + t.Conclusion().String()
}

// violated returns the shares of the runs that violate properties.
func violated(t runner.Tally) string {
	var parts []string
	rates := summary.Rates(t)
	for _, g := range rates {
		text := fmt.Sprintf("%s %s", g.Rate, g.Rate.Interval())
		if len(rates) > 1 {
			text = strings.Join(g.Codes, " ") + ": " + text
		}
		parts = append(parts, text)
	}
	if len(parts) == 0 {
		return "–"
	}
	return strings.Join(parts, "; ")
}

// series adds a series with the value at which it turns.
func (p *text) series(c report.Curve) {
	p.say("- **%s**: %s. %s", report.SeriesName(c.Series), c.Summary, strings.ReplaceAll(c.Threshold(), "\n", " "))
}

// cited is a source with its address.
func cited(c scenarios.Claim) string { return fmt.Sprintf("[%s](%s)", c.Article(), c.Link()) }

// notes adds the sources of a topic's rows and series, and remarks on them.
func (p *text) notes(t scenarios.Topic) {
	var order []string
	by := map[string][]string{} // names by source
	add := func(name string, claims []scenarios.Claim) {
		sources := []string{"without claims, and so ours"}
		if len(claims) > 0 {
			sources = nil
		}
		for _, c := range claims {
			sources = append(sources, cited(c))
		}
		for _, s := range sources {
			if by[s] == nil {
				order = append(order, s)
			}
			by[s] = append(by[s], name)
		}
	}
	for _, r := range t.Rows {
		add(r.Name, r.Claims)
	}
	for _, s := range t.Series {
		add(report.SeriesName(s), s.Claims)
	}
	p.say("\nSources:\n")
	for _, s := range order {
		p.say("- %s: %s", s, strings.Join(by[s], ", "))
	}
	first := true
	for _, r := range t.Rows {
		if r.Remark != "" {
			if first {
				p.say("\nRemarks:\n")
			}
			first = false
			p.say("- %s: %s", r.Name, r.Remark)
		}
	}
}
