package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/results"
	"github.com/lockstorm/lockstorm/scenarios"
	"github.com/lockstorm/lockstorm/storm"
)

// page writes text for people; the writer that fails is found out at the end.
type page struct {
	out io.Writer
	err error
}

func (p *page) say(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.out, format+"\n", args...)
	}
}

// table is a table between two blank lines.
func (p *page) table(t *table) {
	p.say("")
	t.markdown(p)
	p.say("")
}

// Write lets a table be printed into the page.
func (p *page) Write(text []byte) (int, error) {
	if p.err == nil {
		_, p.err = p.out.Write(text)
	}
	return len(text), p.err
}

// short is the main table with what its signs mean.
func (d debate) short(out io.Writer) error {
	p := &page{out: out}
	d.table(cellWidth(asMarkdown)).markdown(p)
	p.say("\n%s.", strings.ReplaceAll(legend(), "\n", ". "))
	return p.err
}

// page is the debate as a page of documentation.
func (d debate) page(out io.Writer, reference results.Reference) error {
	p := &page{out: out}
	p.say(`# The debate, row by row

Made by "make reference" from the results in results/reference; %s.
A row is one scenario, run with many seeds on the %s backend: what each side says of it, what the lock is, what is done to the world, which verdicts were expected, and what was found. A series is the same at several values of one thing.
Shares are of the runs in which the property could be decided, with 95 %% Wilson intervals in percent. The story is made from the history of the first run that violates the property; "lockstorm run" with its seed repeats that run, event by event.`,
		madeWith(reference.Versions), reference.Backend)
	p.say("\n## All rows")
	p.table(d.table(cellWidth(asMarkdown)))
	p.say("%s.\n", strings.ReplaceAll(legend(), "\n", ". "))
	p.say("SHOWN counts the runs whose every verdict was the expected one. SEED is that of the first of them, or of the first run that contradicts: `lockstorm run ROW --seed SEED`.")
	for _, s := range d.rows {
		if t, ok := d.found[s.Name]; ok {
			p.row(t)
		}
	}
	if len(d.series) > 0 {
		p.say("\n## Series\n\n%s", seriesLegend)
	}
	for _, s := range d.series {
		if c := d.found.curve(s); len(c.tallies) > 0 {
			p.series(c)
		}
	}
	return p.err
}

// madeWith names versions, in the order of their names.
func madeWith(versions map[string]string) string {
	var parts []string
	for _, k := range slices.Sorted(maps.Keys(versions)) {
		parts = append(parts, k+" "+versions[k])
	}
	return strings.Join(parts, ", ")
}

// row is the section on one scenario.
func (p *page) row(t storm.Tally) {
	s := t.Scenario
	p.heading(s.Name, s.Summary, s.Claims)
	p.setting(s)
	p.table(verdicts(t))
	for _, about := range checker.Properties() {
		if first, ok := t.First[about]; ok {
			p.say("- **%s**, seed %d: %s.", about.Title(), first.Seed, first.Report.Finding(about).Story)
		}
	}
	if len(t.First) > 0 {
		p.say("")
	}
	p.say("`lockstorm run %s --seed %d` · %s in %d runs", s.Name, t.Witness, t.Outcome(), t.Runs)
	p.remark(s.Name)
}

// heading begins the section on a row or a series.
func (p *page) heading(name, summary string, c scenarios.Claims) {
	p.say("\n## %s\n\n%s.\n", name, sentence(summary))
	if c != (scenarios.Claims{}) {
		p.say("- Kleppmann: %s", dash(c.Kleppmann))
		p.say("- antirez, redis.io: %s", dash(c.Antirez))
	}
}

// setting tells of the lock, the clients, the world and the plan.
func (p *page) setting(s scenarios.Scenario) {
	p.say("- Lock: `%s`", s.Lock.Words())
	for i, c := range s.Clients {
		p.say("- Client %d: `%s`", i+1, c.Words())
	}
	world := fmt.Sprintf("%d nodes, persistence %s", s.Nodes, s.Persistence)
	if s.Nodes == 1 {
		world = fmt.Sprintf("1 node, persistence %s", s.Persistence)
	}
	if s.Store != nil {
		world += ", " + s.Store.String()
	}
	if s.Replication != nil {
		world += ", asynchronous replicas"
	}
	p.say("- World: %s, resource %s", world, s.Guard)
	p.plan("Plan", s.Setting.Plan)
	if s.Generate != nil {
		p.say("- Plan: up to %d faults, drawn from each run's seed", s.Generate.Most)
	}
}

// verdicts is the table of what the runs of one scenario showed.
func verdicts(t storm.Tally) *table {
	v := &table{head: []string{"property", "expected", "observed", "violated", "share", "95 %"}}
	for _, p := range checker.Properties() {
		expected, observed := "–", t.Observed(p)
		if e, stated := t.Scenario.Expect[p]; stated {
			expected = e.String()
		}
		if observed == checker.NotApplicable && (expected == "–" || expected == observed.String()) {
			continue
		}
		violated, share, interval := "–", "–", "–"
		if rate := t.Rate(p); rate.N > 0 {
			violated, share, interval = rate.String(), rate.Percent(), rate.Interval()
		}
		v.add(p.Code()+" "+p.Title(), expected, observed.String(), violated, share, interval)
	}
	return v
}

// series is the section on one series.
func (p *page) series(c curve) {
	p.heading(c.Name+" (series)", c.Summary, c.Claims)
	first := c.tallies[0].Scenario
	p.say("- At the first value, `lockstorm show %s`:", first.Name)
	p.setting(first)
	p.table(c.table())
	p.say("%s", c.threshold())
	for _, t := range c.tallies {
		if r, ok := t.First[c.Property]; ok {
			p.say("\nThe first violation, `lockstorm run %s --seed %d`: %s.", t.Scenario.Name, r.Seed, r.Report.Finding(c.Property).Story)
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

// plan lists the faults of a plan, each after what the plan is called.
func (p *page) plan(what string, plan nemesis.Plan) {
	for _, f := range plan {
		p.say("- %s: %s", what, f)
	}
}
