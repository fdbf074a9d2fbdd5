package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/words"
	"github.com/lockstorm/lockstorm/results"
	"github.com/lockstorm/lockstorm/scenarios"
	"github.com/lockstorm/lockstorm/storm"
)

// record is what a lock has shown in some trials.
type record struct {
	lock   scenarios.Contender
	trials []scenarios.Trial
	shown  []storm.Tally // of each trial
}

// records are those of all locks in some trials, as far as they are known.
func (c comparison) records(trials []scenarios.Trial) []record {
	var all []record
	for _, l := range c.locks {
		r := record{lock: l}
		for _, t := range trials {
			if tally, ok := c.found[scenarios.ComparisonName(t.Name, l.Name)]; ok {
				r.trials, r.shown = append(r.trials, t), append(r.shown, tally)
			}
		}
		if len(r.shown) > 0 {
			all = append(all, r)
		}
	}
	return all
}

// rate is how often a property was violated, and open how many runs left it open.
func (r record) rate(p checker.Property) (rate storm.Rate, open int) {
	for _, t := range r.shown {
		rate, open = rate.Plus(t.Rate(p)), open+t.Seen[p][checker.Unknown]
	}
	return rate, open
}

// cell is what the runs say of a property: of one trial how often they violate it,
// of several in how many of those in which it was judged.
func (r record) cell(p checker.Property) string {
	rate, open := r.rate(p)
	judged, broken := 0, 0
	for _, t := range r.shown {
		if t.Observed(p) != checker.NotApplicable {
			judged++
		}
		if t.Observed(p) == checker.Violated {
			broken++
		}
	}
	switch {
	case rate.K > 0 && len(r.shown) > 1:
		return fmt.Sprintf("✗ in %d of %d", broken, judged)
	case rate.K > 0:
		return fmt.Sprintf("✗ %s %s", rate.Percent(), rate.Interval())
	case open > 0 && rate.N == 0:
		return "?"
	case open > 0:
		return fmt.Sprintf("? in %d of %d runs", open, rate.N+open)
	case rate.N > 0:
		return "✓"
	}
	return "·"
}

// costs are what the lock costs where nothing goes wrong, or in the only trial that
// there is; the outage is the longest of all trials.
func (r record) costs() []string {
	m := r.shown[0].Measured.All()
	outage := m.LongestOutage
	for _, t := range r.shown {
		outage = max(outage, t.Measured.All().LongestOutage)
	}
	woken := "–"
	if r.lock.Waits == scenarios.WaitingWatches {
		woken = each(m.Woken, m.Grants)
	}
	return []string{
		string(r.lock.Waits), each(m.Requests, m.Grants), woken,
		words.Duration(m.AcquireP50), words.Duration(m.AcquireP99), words.Duration(outage),
	}
}

var costHead = []string{"waiting", "requests per grant", "woken per grant", "acquire p50", "acquire p99", "longest outage"}

// matrix has a line for each lock, under its family: its verdicts on some properties and, if they are
// asked for, its costs.
func matrix(records []record, properties []checker.Property, costs bool) *table {
	t := &table{head: []string{"lock"}}
	for _, p := range properties {
		t.head = append(t.head, p.Code()+" "+p.Title())
	}
	if costs {
		t.head = append(t.head, costHead...)
	}
	for _, r := range records {
		t.section(string(r.lock.Family))
		line := []string{r.lock.Name}
		for _, p := range properties {
			line = append(line, r.cell(p))
		}
		if costs {
			line = append(line, r.costs()...)
		}
		t.add(line...)
	}
	return t
}

// firsts lists, for each lock, the first run that violated each property, as in
// "V1 crash 3": the trial and the seed.
func firsts(records []record) *table {
	t := &table{head: []string{"lock", "first violations"}}
	for _, r := range records {
		var list []string
		for _, p := range checker.Properties() {
			for i, tally := range r.shown {
				if first, ok := tally.First[p]; ok {
					list = append(list, fmt.Sprintf("%s %s %d", p.Code(), r.trials[i].Name, first.Seed))
					break
				}
			}
		}
		t.section(string(r.lock.Family))
		t.add(r.lock.Name, dash(strings.Join(list, ", ")))
	}
	return t
}

// deviation is where a lock was not what is said of it.
type deviation struct {
	outcome storm.Outcome
	text    string
}

// deviations compares what was seen with what is said of the locks. That a lock has
// to violate something is asked of all trials together.
func (c comparison) deviations() []deviation {
	var all []deviation
	for _, r := range c.records(c.trials) {
		for _, p := range checker.Properties() {
			rate, _ := r.rate(p)
			expected, stated := r.lock.Expect[p]
			switch {
			case stated && expected == checker.Holds && rate.K > 0:
				all = append(all, deviation{storm.Contradiction, fmt.Sprintf("%s violates %s, which it is said to keep: %s", r.lock.Name, p.Title(), r.cell(p))})
			case stated && expected == checker.Violated && rate.K == 0 && len(r.shown) == len(scenarios.Trials()):
				all = append(all, deviation{storm.Undecided, fmt.Sprintf("%s was not seen to violate %s, which it is said not to keep: %s", r.lock.Name, p.Title(), r.cell(p))})
			}
		}
	}
	return all
}

// groups are the properties as they fit beside each other on a terminal.
var groups = slices.Collect(slices.Chunk(checker.Properties(), 4))

// print prints what is known of the comparison.
func (c comparison) print(out io.Writer, o compareOptions, reference results.Reference) error {
	switch o.format {
	case asJSON:
		return reference.Print(out)
	case asMarkdown:
		return c.page(out, reference)
	}
	if o.byTrial {
		for _, t := range c.trials {
			_, _ = fmt.Fprintf(out, "%s: %s\n", t.Name, t.Summary)
			printMatrix(out, c.records([]scenarios.Trial{t}))
			_, _ = fmt.Fprintln(out)
		}
	} else {
		records := c.records(c.trials)
		printMatrix(out, records)
		_, _ = fmt.Fprintln(out)
		firsts(records).text(out)
		_, _ = fmt.Fprintln(out)
	}
	_, _ = fmt.Fprintln(out, c.legend())
	for _, d := range c.deviations() {
		_, _ = fmt.Fprintln(out, d.text)
	}
	if c.stopped {
		_, _ = fmt.Fprintln(out, stoppedNote)
	}
	return nil
}

// legend explains the tables, an entry a line.
func (c comparison) legend() string {
	return `✓ holds in every run; ✗ in 3 of 14: violated in some run of 3 trials, of the 14 in which it was judged
✗ 20.0 % [9, 39]: the share of one trial's runs that violate it, with its 95 % Wilson interval in percent
? left open: the runs do not suffice to tell; · nothing to judge: no trial is about it, or the lock has no such thing
Waiting: a client that waits spins (tries again) or watches (is woken)
Requests: messages to nodes; woken: clients that are woken; acquire p50, p99: the time of tries that got the lock
A table of several trials takes these from ` + c.trials[0].Name + `, and the longest outage from all of them
Outage: somebody wanted the lock, and nobody had it or got it
"V1 crash 3": V1 is first violated in the trial crash by seed 3; "lockstorm run compare-crash-LOCK --seed 3" repeats it`
}

func printMatrix(out io.Writer, records []record) {
	for _, g := range groups {
		matrix(records, g, false).text(out)
		_, _ = fmt.Fprintln(out)
	}
	matrix(records, nil, true).text(out)
}

// page is the comparison as a page of documentation.
func (c comparison) page(out io.Writer, reference results.Reference) error {
	p := &page{out: out}
	p.say(`# The locks compared

Made by "make reference" from the results in results/reference; %s.
All locks go through the same trials on the %s backend: the same clients, and the same plan as far as what the lock is kept on allows.`, madeWith(reference.Versions), reference.Backend)
	p.say("\n## All trials together")
	records := c.records(c.trials)
	p.table(matrix(records, checker.Properties(), true))
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
	matrix(records, checker.Properties(), true).markdown(p)
}
