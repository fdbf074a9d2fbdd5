// Package summary describes runs and their verdicts in short texts, in signs, and as blocks of a page.
// It knows nothing of where they came from.
package summary

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/textfmt"
	"github.com/lockstorm/lockstorm/scenarios"
)

// Showing says how many runs were as expected, and the conclusion if it is another.
func Showing(t runner.Tally) string {
	return ShownText(t.Shown, t.Runs, t.Conclusion())
}

// ShownText prints how many of the runs were as expected, and the conclusion if it is another.
func ShownText(shown, runs int, o runner.Conclusion) string {
	text := fmt.Sprintf("%d/%d", shown, runs)
	if o != runner.AsExpected {
		text += " " + o.String()
	}
	return text
}

// Witness is the seed of a tally's witness.
func Witness(t runner.Tally) string {
	if t.Shown+t.Against == 0 {
		return "–"
	}
	return fmt.Sprint(t.Witness)
}

// ShownLegend explains the last columns of the main table.
const ShownLegend = `Shown: the runs whose every verdict was the expected one; of a series, the values that are as expected.
✗ up to, ✗ from: the last and the first value of a series at which a run violated; few runs may miss one beyond.
Seed: that of the first such run, or of the first that contradicts.`

// Worst is the worst conclusion of some tallies. No tallies are undecided.
func Worst(known []runner.Tally) runner.Conclusion {
	worst := runner.AsExpected
	if len(known) == 0 {
		worst = runner.Undecided
	}
	for _, t := range known {
		switch t.Conclusion() {
		case runner.Contradiction:
			return runner.Contradiction
		case runner.Undecided:
			worst = runner.Undecided
		}
	}
	return worst
}

// Rates lists the rates of the violated properties.
func Rates(t runner.Tally) []Share {
	var list []Share
next:
	for _, p := range checker.Properties() {
		rate := t.Rate(p)
		if rate.K == 0 {
			continue
		}
		for i := range list {
			if list[i].Rate == rate {
				list[i].Codes = append(list[i].Codes, p.Code())
				continue next
			}
		}
		list = append(list, Share{[]string{p.Code()}, rate})
	}
	return list
}

// Found describes the verdicts in words.
func Found(t runner.Tally) string {
	var parts []string
	for _, g := range Rates(t) {
		parts = append(parts, fmt.Sprintf("%s violated in %s, %s %s", strings.Join(g.Codes, " "), g.Rate, g.Rate.Percent(), g.Rate.Interval()))
	}
	for _, v := range []struct {
		checker.Verdict
		verb string
	}{{checker.Holds, "kept in all"}, {checker.Unknown, "left open in some"}} {
		var codes []string
		for _, p := range checker.Properties() {
			if t.Observed(p) == v.Verdict {
				codes = append(codes, p.Code())
			}
		}
		if len(codes) > 0 {
			parts = append(parts, strings.Join(codes, " ")+" "+v.verb)
		}
	}
	for _, p := range checker.Properties() {
		if want, wanted := t.Scenario.Expect.Want(p); wanted && want != t.Observed(p) {
			parts = append(parts, fmt.Sprintf("%s was expected to be %s", p.Code(), want))
		}
	}
	return strings.Join(parts, "; ")
}

// Violated lists the properties that some run violated, in their order.
func Violated(t runner.Tally) []checker.Property {
	return slices.DeleteFunc(checker.Properties(), func(p checker.Property) bool {
		_, ok := t.First[p]
		return !ok
	})
}

// Slowness says how late the machine was, and what the limit is.
func Slowness(t runner.Tally) string {
	r := t.Slipping
	return fmt.Sprintf("the machine was too slow in %d of %s, %v late; allowed: %v",
		t.Slipped, textfmt.Count(t.Runs, "run"), r.SchedulingLag.Round(time.Millisecond), r.Scenario.SlipLimit())
}

// Fact is a property of a scenario.
type Fact struct {
	Name, Text string
	Code       bool // print it as code
}

// Setting describes the lock, the clients, the world and the plan of a scenario.
func Setting(s scenarios.Scenario) []Fact {
	list := []Fact{{"Lock", s.Lock.Words(), true}}
	for i := 0; i < len(s.Clients); {
		who, next := fmt.Sprintf("Client %d", i+1), i+1
		for next < len(s.Clients) && s.Clients[next] == s.Clients[i] {
			next++
		}
		if next > i+1 {
			who = fmt.Sprintf("Clients %d to %d", i+1, next)
			if next == i+2 {
				who = fmt.Sprintf("Clients %d and %d", i+1, next)
			}
		}
		list = append(list, Fact{who, s.Clients[i].Words(), true})
		i = next
	}
	world := fmt.Sprintf("%s, persistence %s", textfmt.Count(s.Nodes, "node"), s.Persistence)
	if s.Store != nil {
		world += ", " + s.Store.String()
	}
	if s.Replication != nil {
		world += ", asynchronous replicas"
	}
	list = append(list, Fact{"World", fmt.Sprintf("%s, resource %s", world, s.Guard), false})
	for _, f := range s.World().Plan {
		list = append(list, Fact{"Plan", fmt.Sprint(f), false})
	}
	if s.Generate != nil {
		list = append(list, Fact{"Plan", fmt.Sprintf("up to %d faults, drawn from each run's seed", s.Generate.Most), false})
	}
	return list
}

// Story describes the first violation of a property.
type Story struct {
	Property checker.Property
	Seed     uint64
	Text     string
}

// Stories returns the first violation of each property. A repeated overlap is described once.
func Stories(t runner.Tally) (list []Story) {
	var before checker.Finding
	for _, p := range Violated(t) {
		first := t.First[p]
		finding := first.Report.Finding(p)
		text := finding.Story()
		if checker.SameOverlap(before, finding) {
			text = "the same overlap, of sections"
		}
		list = append(list, Story{p, first.Seed, text})
		before = finding
	}
	return list
}

// NoBreak is a non-breaking space.
const NoBreak = "\u00a0"

// Grouped lists properties by verdict, as in "✗ V1 V2, ✓ V3". of returns the verdict of a
// property, if it has one.
func Grouped(of func(checker.Property) (checker.Verdict, bool)) string {
	var parts []string
	for _, v := range []checker.Verdict{checker.Violated, checker.Unknown, checker.Holds, checker.NotApplicable} {
		var codes []string
		for _, p := range checker.Properties() {
			if is, known := of(p); known && is == v {
				codes = append(codes, p.Code())
			}
		}
		if len(codes) > 0 {
			parts = append(parts, Sign(v)+NoBreak+strings.Join(codes, NoBreak))
		}
	}
	return textfmt.Dash(strings.Join(parts, ", "))
}

// Sign is a verdict in one character.
func Sign(v checker.Verdict) string {
	switch v {
	case checker.Holds:
		return "✓"
	case checker.Violated:
		return "✗"
	case checker.NotApplicable:
		return "·"
	}
	return "?"
}

// Signs lists the verdicts over all runs. An unexpected one is followed by the expected one in
// brackets.
func Signs(t runner.Tally) string {
	var parts []string
	for _, p := range checker.Properties() {
		observed := t.Observed(p)
		text := p.Code() + Sign(observed)
		if want, wanted := t.Scenario.Expect.Want(p); wanted && want != observed {
			text += "(" + Sign(want) + ")"
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, " ")
}

// SignLegend explains the signs.
const SignLegend = "✓ holds  ✗ violated  ? unknown  · nothing to judge  (✓) behind it: what was expected instead"

// Codes explains the codes of properties, on one line.
func Codes() string { return CodesWithin(math.MaxInt) }

// CodesWithin explains the codes of properties, on lines of at most width characters.
func CodesWithin(width int) string {
	var text strings.Builder
	used := 0
	for i, p := range checker.Properties() {
		entry := p.Code() + " " + p.Title()
		n := utf8.RuneCountInString(entry) + len(",")
		switch {
		case i == 0:
		case used+len(" ")+n > width:
			text.WriteString(",\n")
			used = 0
		default:
			text.WriteString(", ")
			used += len(" ")
		}
		text.WriteString(entry)
		used += n
	}
	return text.String()
}
