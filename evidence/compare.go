package main

import (
	"fmt"
	"strings"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/show/report"
	"github.com/lockstorm/lockstorm/internal/textfmt"
	"github.com/lockstorm/lockstorm/results"
	"github.com/lockstorm/lockstorm/scenarios"
)

// writeCompare makes the page of the comparison.
func writeCompare(c *checkout) (string, error) {
	reference, found, err := c.load("reference", results.CompareFile)
	if err != nil {
		return "", err
	}
	compared := report.Comparison{Locks: scenarios.Contenders(), Trials: scenarios.Trials(), Found: found}
	p := &text{}
	p.say(`# The locks compared

Made by `+"`go -C evidence run . compare`"+` from results/reference; %s.

All locks go through the same trials in the simulator: the same clients, and the same plan as far as what the lock is kept on allows. "lockstorm compare --trial TRIAL" runs one of them, and prints its intervals.

## All trials together`, madeWith(reference.Versions))
	p.table(report.Matrix(compared.Records(compared.Trials)))
	for l := range strings.Lines(compared.Legend("")) {
		p.say("- %s", strings.TrimSpace(l))
	}
	for _, d := range compared.Deviations() {
		p.say("\n%s.", textfmt.Sentence(d.Text))
	}
	p.say("\n## The trials\n")
	for _, t := range compared.Trials {
		p.say("- **%s**: %s", t.Name, t.Summary)
	}
	p.say("\n## Trial by trial\n\nThe properties that some of the %d runs of a lock in a trial violate, with the percentage of the runs if not all do; ? for those that some run leaves open.", reference.Rows[0].Runs)
	table := &textfmt.Table{Head: []string{"lock"}}
	for _, t := range compared.Trials {
		table.Head = append(table.Head, t.Name)
	}
	for _, l := range compared.Locks {
		line := []string{l.Name}
		for _, t := range compared.Trials {
			line = append(line, broken(found, t, l))
		}
		table.Add(line...)
	}
	p.table(table)
	p.say("## The locks\n")
	for _, l := range compared.Locks {
		claims := ""
		for _, c := range l.Claims {
			claims += fmt.Sprintf(" %q, says %s.", c.Says, cited(c))
		}
		p.say("- **%s**: %s%s%s", l.Name, l.Summary, after(scenarios.Remark("compare-"+l.Name)), claims)
	}
	return p.String(), nil
}

// broken lists the violated properties of a lock in a trial.
func broken(found report.Tallies, t scenarios.Trial, l scenarios.Contender) string {
	tally, ran := found[scenarios.ComparisonName(t.Name, l.Name)]
	if !ran {
		return "–"
	}
	var order []string
	codes := map[string][]string{} // by share
	for _, p := range checker.Properties() {
		share := ""
		switch rate := tally.Rate(p); {
		case tally.Observed(p) == checker.Unknown:
			share = "?"
		case rate.K == 0:
			continue
		case rate.K < rate.N:
			share = rate.Percent()
		}
		if codes[share] == nil {
			order = append(order, share)
		}
		codes[share] = append(codes[share], p.Code())
	}
	var parts []string
	for _, share := range order {
		parts = append(parts, strings.TrimSpace(strings.Join(codes[share], " ")+" "+share))
	}
	return strings.Join(parts, ", ")
}

// after returns a remark to be appended to a line.
func after(remark string) string {
	if remark == "" {
		return ""
	}
	return ". *" + remark + "*"
}
