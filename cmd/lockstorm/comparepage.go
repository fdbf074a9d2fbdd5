package main

import (
	"io"
	"strings"

	"github.com/lockstorm/lockstorm/internal/report"
	"github.com/lockstorm/lockstorm/internal/textfmt"
	"github.com/lockstorm/lockstorm/results"
	"github.com/lockstorm/lockstorm/scenarios"
)

// page is the comparison as a page of documentation.
func (c comparison) page(out io.Writer, reference results.Reference) error {
	p := &page{out: out}
	p.say(`# The locks compared

Made by "make reference" from the results in results/reference; %s.
All locks go through the same trials on the %s backend: the same clients, and the same plan as far as what the lock is kept on allows.`, madeWith(reference.Versions), reference.Backend)
	p.say("\n## All trials together")
	records := c.Records(c.Trials)
	p.table(report.Matrix(records))
	for l := range strings.Lines(c.Legend()) {
		p.say("- %s", strings.TrimSpace(l))
	}
	p.table(report.Firsts(records))
	for _, d := range c.Deviations() {
		p.say("\n%s.", textfmt.Sentence(d.Text))
	}
	p.contenders(c.Locks)
	for _, t := range c.Trials {
		p.trial(t, c.Records([]scenarios.Trial{t}))
	}
	return p.err
}

// contenders says what the locks are.
func (p *page) contenders(locks []scenarios.Contender) {
	p.say("\n## The locks\n")
	for _, l := range locks {
		p.say("- **%s**: %s. `%s`%s", l.Name, l.Summary, l.Lock.Words(), after(scenarios.Remark("compare-"+l.Name)))
	}
}

// after is a remark that stands behind something else.
func after(remark string) string {
	if remark == "" {
		return ""
	}
	return " *" + remark + "*"
}

// trial is the section on one trial; the plan is that of the first lock.
func (p *page) trial(t scenarios.Trial, records []report.Record) {
	p.say("\n## Trial: %s\n\n%s.", t.Name, textfmt.Sentence(t.Summary))
	if len(records) == 0 {
		return
	}
	if plan := records[0].Shown[0].Scenario.Plan; len(plan) > 0 {
		p.say("")
		p.plan("Plan for "+records[0].Lock.Name, plan)
	}
	p.say("")
	report.Matrix(records).Markdown(p)
}
