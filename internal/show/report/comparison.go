package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/show/document"
	"github.com/lockstorm/lockstorm/internal/show/summary"
	"github.com/lockstorm/lockstorm/internal/show/verdicts"
	"github.com/lockstorm/lockstorm/internal/textfmt"
	"github.com/lockstorm/lockstorm/scenarios"
)

// Comparison adds the results of locks in trials: all trials together, and each by itself.
// stopped: the comparison was stopped before its end.
func (r *Report) Comparison(c Comparison, versions map[string]string, stopped bool) {
	records := c.Records(c.Trials)
	if len(records) == 0 {
		r.Add("The locks compared", document.Notice{Mark: document.Open, Text: "There are no results."})
		return
	}
	all := lockMatrix(records)
	all.Filters = true
	blocks := []document.Block{}
	for _, d := range c.Deviations() {
		blocks = append(blocks, document.Notice{Mark: summary.MarkOf(d.Conclusion), Text: d.Text})
	}
	if stopped {
		blocks = append(blocks, document.Notice{Mark: document.Open, Text: stoppedNote})
	}
	if len(blocks) == 0 {
		blocks = append(blocks, document.Notice{Mark: document.Good, Text: "Every lock behaves as claimed."})
	}
	blocks = append(blocks, verdicts.Legend{}, all,
		document.Prose("Below ✗: the number of trials with a violation, of the trials in which the property was judged; in the table of a single trial, the share of runs. Below ?: the number of undecided runs."),
		document.Fold{Summary: "what the other columns mean", Blocks: c.costBlocks()},
		document.Heading("First violations"), document.TableOf(Firsts(records), nil))
	var about document.Facts
	for _, l := range c.Locks {
		text := l.Summary + ". " + l.Lock.Words()
		if remark := scenarios.Remark("compare-" + l.Name); remark != "" {
			text += ". " + remark
		}
		about = append(about, document.Fact{Name: l.Name, Value: text})
		for _, c := range l.Claims {
			about = append(about, document.Fact{Name: l.Name + ", claim", Value: c.Says + " (" + c.Article() + ")", Link: c.Link()})
		}
	}
	blocks = append(blocks, document.Fold{Summary: "the locks", Blocks: []document.Block{about}})
	for _, t := range c.Trials {
		fold := document.Fold{Summary: fmt.Sprintf("trial %s: %s", t.Name, t.Summary)}
		if some := c.Records([]scenarios.Trial{t}); len(some) > 0 {
			for _, f := range some[0].Shown[0].Scenario.Plan {
				fold.Blocks = append(fold.Blocks, document.Prose(fmt.Sprintf("Plan for %s: %v", some[0].Lock.Name, f)))
			}
			fold.Blocks = append(fold.Blocks, lockMatrix(some))
			blocks = append(blocks, fold)
		}
	}
	r.Add("The locks compared", blocks...)
	r.addFoot("The comparison", versions, "")
}

// Comparison is some locks in some trials, with their known results.
type Comparison struct {
	Locks  []scenarios.Contender
	Trials []scenarios.Trial
	Found  Tallies
}

// Record is the results of a lock in some trials.
type Record struct {
	Lock   scenarios.Contender
	Trials []scenarios.Trial
	Shown  []runner.Tally // by trial
}

// Records returns the known results of all locks in some trials.
func (c Comparison) Records(trials []scenarios.Trial) []Record {
	var all []Record
	for _, l := range c.Locks {
		r := Record{Lock: l}
		for _, t := range trials {
			if tally, ok := c.Found[scenarios.ComparisonName(t.Name, l.Name)]; ok {
				r.Trials, r.Shown = append(r.Trials, t), append(r.Shown, tally)
			}
		}
		if len(r.Shown) > 0 {
			all = append(all, r)
		}
	}
	return all
}

// rate returns how often a property was violated, and the number of runs that left it
// undecided.
func (r Record) rate(p checker.Property) (rate runner.Rate, open int) {
	for _, t := range r.Shown {
		rate, open = rate.Plus(t.Rate(p)), open+t.Seen[p][checker.Unknown]
	}
	return rate, open
}

// Cell is a property's cell: in one trial how often it was violated, in several in how many
// trials it was.
func (r Record) Cell(p checker.Property) string {
	rate, open := r.rate(p)
	switch {
	case rate.K > 0 && len(r.Shown) > 1:
		trials := r.trials(p)
		return fmt.Sprintf("✗ in %d of %d", trials.K, trials.N)
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

// trials returns how many trials violated a property, of those in which it was judged.
func (r Record) trials(p checker.Property) (rate runner.Rate) {
	for _, t := range r.Shown {
		if t.Observed(p) != checker.NotApplicable {
			rate.N++
		}
		if t.Observed(p) == checker.Violated {
			rate.K++
		}
	}
	return rate
}

// broken says how often a property was violated: in how many trials or, of one trial, in which
// share of the runs.
func (r Record) broken(p checker.Property, rate runner.Rate) string {
	if len(r.Shown) > 1 {
		return r.trials(p).String()
	}
	return rate.Percent()
}

// costs returns what the lock costs without faults, or in the only trial. The outage is the
// longest of all trials.
func (r Record) costs() []checker.Column {
	m := r.Shown[0].Measured.All()
	for _, t := range r.Shown {
		m.LongestOutage = max(m.LongestOutage, t.Measured.All().LongestOutage)
	}
	waiting := checker.Column{Head: "waiting", Cell: string(r.Lock.Waits), Legend: "waiting: a client that waits spins (tries again) or watches (is woken)"}
	return append([]checker.Column{waiting}, m.Columns()...)
}

// verdict is the cell of a property on a page. A claimed violation is expected only of all trials
// together.
func (r Record) verdict(p checker.Property) verdicts.Verdict {
	v := verdicts.Verdict{Property: p, Found: checker.NotApplicable}
	rate, open := r.rate(p)
	switch {
	case rate.K > 0:
		v.Found, v.Note = checker.Violated, r.broken(p, rate)
	case open > 0:
		v.Found, v.Note = checker.Unknown, fmt.Sprintf("%d/%d", open, rate.N+open)
	case rate.N > 0:
		v.Found = checker.Holds
	}
	want, _ := r.Lock.Expect.Want(p)
	all := len(r.Shown) == len(scenarios.Trials())
	judged := v.Found == checker.Holds || v.Found == checker.Violated
	if want == checker.Holds && judged || want == checker.Violated && all {
		v.Expected = want
	}
	return v
}

// lockMatrix has a row for each lock, by family, with its verdicts and costs.
func lockMatrix(records []Record) verdicts.Matrix {
	m := verdicts.Matrix{First: "lock"}
	family := scenarios.Family("")
	for i, r := range records {
		if r.Lock.Family != family {
			family = r.Lock.Family
			m.Rows = append(m.Rows, verdicts.Row{Heading: true, Name: string(family)})
		}
		row := verdicts.Row{Name: r.Lock.Name}
		for _, p := range checker.Properties() {
			row.Verdicts = append(row.Verdicts, r.verdict(p))
		}
		for _, c := range r.costs() {
			if i == 0 {
				m.Columns = append(m.Columns, document.Column{Name: c.Head, Help: c.Legend})
			}
			row.Cells = append(row.Cells, document.CellOf(c.Cell))
		}
		m.Rows = append(m.Rows, row)
	}
	return m
}

// Matrix has a line for each lock, by family, with its verdicts and costs.
func Matrix(records []Record) *textfmt.Table {
	t := &textfmt.Table{Head: []string{"lock"}}
	for _, p := range checker.Properties() {
		t.Head = append(t.Head, p.Code()+" "+p.Title())
	}
	for i, r := range records {
		t.Section(string(r.Lock.Family))
		line := []string{r.Lock.Name}
		for _, p := range checker.Properties() {
			line = append(line, r.Cell(p))
		}
		for _, c := range r.costs() {
			if i == 0 {
				t.Head = append(t.Head, c.Head)
			}
			line = append(line, c.Cell)
		}
		t.Add(line...)
	}
	return t
}

// Firsts lists for each lock the first run that violated each property, as trial and seed: "V1
// crash 3".
func Firsts(records []Record) *textfmt.Table {
	t := &textfmt.Table{Head: []string{"lock", "first violations"}}
	for _, r := range records {
		var list []string
		for _, p := range checker.Properties() {
			for i, tally := range r.Shown {
				if first, ok := tally.First[p]; ok {
					list = append(list, fmt.Sprintf("%s %s %d", p.Code(), r.Trials[i].Name, first.Seed))
					break
				}
			}
		}
		t.Section(string(r.Lock.Family))
		t.Add(r.Lock.Name, textfmt.Dash(strings.Join(list, ", ")))
	}
	return t
}

// Deviation is a result that contradicts the claims about a lock.
type Deviation struct {
	Conclusion runner.Conclusion
	Text       string
}

// Deviations compares the results with the claims about the locks. A claimed violation has to
// occur in some trial.
func (c Comparison) Deviations() []Deviation {
	var all []Deviation
	for _, r := range c.Records(c.Trials) {
		for _, p := range checker.Properties() {
			rate, _ := r.rate(p)
			want, _ := r.Lock.Expect.Want(p)
			switch {
			case want == checker.Holds && rate.K > 0:
				all = append(all, Deviation{runner.Contradiction, fmt.Sprintf("%s violates %s, which it is said to keep: %s", r.Lock.Name, p.Title(), r.Cell(p))})
			case want == checker.Violated && rate.K == 0 && len(r.Shown) == len(scenarios.Trials()):
				all = append(all, Deviation{runner.Undecided, fmt.Sprintf("%s was not seen to violate %s, which it is said not to keep: %s", r.Lock.Name, p.Title(), r.Cell(p))})
			}
		}
	}
	return all
}

// costLegend explains the columns of costs, a line each.
func (c Comparison) costLegend() string {
	records := c.Records(c.Trials)
	if len(records) == 0 {
		return ""
	}
	var lines []string
	for _, c := range records[0].costs() {
		if line := textfmt.Sentence(c.Legend) + "\n"; !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "")
}

// costBlocks explains the columns of costs on a page.
func (c Comparison) costBlocks() (blocks []document.Block) {
	for l := range strings.Lines(c.costLegend() + costScope(c) + "\n") {
		blocks = append(blocks, document.Prose(strings.TrimSpace(l)+"."))
	}
	return blocks
}

// costScope says of which trials the costs are.
func costScope(c Comparison) string {
	return "A table of several trials takes these from " + c.Trials[0].Name + ", and the longest outage from all of them"
}

// Legend explains the tables, an entry a line. again is the flags that repeat a run, each after a space.
func (c Comparison) Legend(again string) string {
	return `✓ holds in every run; ✗ in 3 of 14: violated in some run of 3 trials, of the 14 in which it was judged
✗ 20.0 % [9, 39]: the share of one trial's runs that violate it, with its 95 % Wilson interval in percent
? left open: the runs do not suffice to tell; · nothing to judge: no trial is about it, or the lock has no such thing
` + c.costLegend() + costScope(c) + `
"V1 crash 3": V1 is first violated in the trial crash by seed 3; "lockstorm run compare-crash-LOCK --seed 3` + again + `" repeats it`
}

// Conclusion compares the results with the claims about the locks.
func (c Comparison) Conclusion() runner.Conclusion {
	worst := runner.AsExpected
	for _, d := range c.Deviations() {
		if d.Conclusion == runner.Contradiction {
			return runner.Contradiction
		}
		worst = d.Conclusion
	}
	return worst
}
