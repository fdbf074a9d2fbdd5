package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/terminal"
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
func (r record) costs() []checker.Column {
	m := r.shown[0].Measured.All()
	for _, t := range r.shown {
		m.LongestOutage = max(m.LongestOutage, t.Measured.All().LongestOutage)
	}
	waiting := checker.Column{Head: "waiting", Cell: string(r.lock.Waits), Legend: "waiting: a client that waits spins (tries again) or watches (is woken)"}
	return append([]checker.Column{waiting}, m.Columns()...)
}

// matrix has a line for each lock, under its family: its verdicts on all properties, and
// its costs.
func matrix(records []record) *table {
	t := &table{head: []string{"lock"}}
	for _, p := range checker.Properties() {
		t.head = append(t.head, p.Code()+" "+p.Title())
	}
	for i, r := range records {
		t.section(string(r.lock.Family))
		line := []string{r.lock.Name}
		for _, p := range checker.Properties() {
			line = append(line, r.cell(p))
		}
		for _, c := range r.costs() {
			if i == 0 {
				t.head = append(t.head, c.Head)
			}
			line = append(line, c.Cell)
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
	conclusion storm.Conclusion
	text       string
}

// deviations compares what was seen with what is said of the locks. That a lock has
// to violate something is asked of all trials together.
func (c comparison) deviations() []deviation {
	var all []deviation
	for _, r := range c.records(c.trials) {
		for _, p := range checker.Properties() {
			rate, _ := r.rate(p)
			want, _ := r.lock.Expect.Want(p)
			switch {
			case want == checker.Holds && rate.K > 0:
				all = append(all, deviation{storm.Contradiction, fmt.Sprintf("%s violates %s, which it is said to keep: %s", r.lock.Name, p.Title(), r.cell(p))})
			case want == checker.Violated && rate.K == 0 && len(r.shown) == len(scenarios.Trials()):
				all = append(all, deviation{storm.Undecided, fmt.Sprintf("%s was not seen to violate %s, which it is said not to keep: %s", r.lock.Name, p.Title(), r.cell(p))})
			}
		}
	}
	return all
}

// print prints what is known of the comparison.
func (c comparison) print(out io.Writer, reference results.Reference) error {
	switch c.format {
	case asJSON:
		return reference.Print(out)
	case asMarkdown:
		return c.page(out, reference)
	}
	terminal.Fit(out)
	if c.byTrial {
		for _, t := range c.trials {
			_, _ = fmt.Fprintf(out, "%s: %s\n", t.Name, t.Summary)
			matrix(c.records([]scenarios.Trial{t})).wrapped(out)
			_, _ = fmt.Fprintln(out)
		}
	} else {
		records := c.records(c.trials)
		matrix(records).wrapped(out)
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
` + c.costLegend() + `A table of several trials takes these from ` + c.trials[0].Name + `, and the longest outage from all of them
"V1 crash 3": V1 is first violated in the trial crash by seed 3; "lockstorm run compare-crash-LOCK --seed 3" repeats it`
}

// costLegend explains the columns of what a lock costs, a line each.
func (c comparison) costLegend() string {
	records := c.records(c.trials)
	if len(records) == 0 {
		return ""
	}
	var lines []string
	for _, c := range records[0].costs() {
		if line := sentence(c.Legend) + "\n"; !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "")
}
