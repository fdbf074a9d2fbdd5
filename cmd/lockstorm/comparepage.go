package main

import (
	"io"
	"strings"

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
	records := c.records(c.trials)
	p.table(matrix(records))
	for l := range strings.Lines(c.legend()) {
		p.say("- %s", strings.TrimSpace(l))
	}
	p.table(firsts(records))
	for _, d := range c.deviations() {
		p.say("\n%s.", sentence(d.text))
	}
	p.contenders(c.locks)
	for _, t := range c.trials {
		p.trial(t, c.records([]scenarios.Trial{t}))
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
func (p *page) trial(t scenarios.Trial, records []record) {
	p.say("\n## Trial: %s\n\n%s.", t.Name, sentence(t.Summary))
	if len(records) == 0 {
		return
	}
	if plan := records[0].shown[0].Scenario.Plan; len(plan) > 0 {
		p.say("")
		p.plan("Plan for "+records[0].lock.Name, plan)
	}
	p.say("")
	matrix(records).markdown(p)
}
