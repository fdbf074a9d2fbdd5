package runpage

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/report/document"
	"github.com/lockstorm/lockstorm/internal/report/summary"
	"github.com/lockstorm/lockstorm/internal/report/timeline"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/textfmt"
)

// lead says what happened in a run: what was violated, whether that was expected, the
// violation in a sentence, and the assumption that was broken.
func (s Shown) lead() (blocks []document.Block) {
	t := s.Tally()
	warning := s.warning(t)
	if warning != "" {
		blocks = append(blocks, document.Notice{Mark: document.Open, Text: warning})
	}
	violated := summary.Violated(t)
	if len(violated) == 0 {
		if warning == "" {
			blocks = append(blocks, nothingViolated(s, t))
		}
		return blocks
	}
	is := " is violated"
	if len(violated) > 1 {
		is = " are violated"
	}
	mark, expected := document.Bad, ""
	if warning == "" {
		mark, expected = expectation(s, t)
	}
	return append(blocks, document.Notice{
		Mark: mark, Text: titles(violated) + is + expected + ".", More: happened(s.Run.Report.Finding(violated[0])),
	})
}

// Sentence says what happened in the run, as its page does first.
func (s Shown) Sentence() string {
	var texts []string
	for _, b := range s.lead() {
		if n, ok := b.(document.Notice); ok {
			texts = append(append(texts, n.Text), n.More...)
		}
	}
	return strings.Join(texts, " ")
}

// warning says why the verdicts of a run do not count; "": they do.
func (s Shown) warning(t runner.Tally) string {
	switch {
	case s.Run.Report.Cut != "":
		return "cut short: " + s.Run.Report.Cut
	case s.Run.Cut:
		return "stopped before its end: what was not violated so far is unknown"
	case t.Slipped > 0:
		return summary.Slowness(t) + ": the run does not count"
	}
	return ""
}

// nothingViolated describes a run without a violation.
func nothingViolated(s Shown, t runner.Tally) document.Notice {
	var held, open []checker.Property
	for _, f := range s.Run.Report.Findings {
		switch f.Verdict {
		case checker.Holds:
			held = append(held, f.Property)
		case checker.Unknown:
			open = append(open, f.Property)
		}
	}
	n := document.Notice{Text: "Nothing is violated"}
	if len(open) > 0 {
		n.More = append(n.More, "Undecided: "+titles(open)+".")
	}
	if len(held) > 0 {
		n.More = append(n.More, "Kept: "+titles(held)+".")
	}
	var expected string
	n.Mark, expected = expectation(s, t)
	n.Text += expected + "."
	return n
}

// expectation compares a run with what its scenario expects. The text continues a sentence on
// what was found.
func expectation(s Shown, t runner.Tally) (document.Mark, string) {
	expect, violated := s.Run.Scenario.Expect, summary.Violated(t)
	if len(expect) == 0 {
		if len(violated) > 0 {
			return document.Bad, "; the scenario states no expectation"
		}
		return document.Plain, "; the scenario states no expectation"
	}
	var others []string
	for _, p := range checker.Properties() {
		if want, wanted := expect.Want(p); wanted && want != t.Observed(p) {
			others = append(others, fmt.Sprintf("%s was expected to be %q", p.Code(), want.String()))
		}
	}
	switch {
	case len(others) > 0:
		return summary.MarkOf(t.Conclusion()), "; " + textfmt.List(others)
	case t.Conclusion() != runner.AsExpected:
		return summary.MarkOf(t.Conclusion()), ": " + t.Conclusion().String()
	case len(violated) > 0:
		return document.Known, ", as this scenario expects"
	}
	return document.Good, ", as this scenario expects"
}

// titles lists properties by code and title.
func titles(list []checker.Property) string {
	all := make([]string, len(list))
	for i, p := range list {
		all[i] = p.Code() + " " + p.Title()
	}
	return textfmt.List(all)
}

// happened says in a sentence what a violation is, and in another which assumption was broken.
// Of an overlap the last event says it all.
func happened(f checker.Finding) []string {
	var events, causes []string
	for _, s := range timeline.Story(f) {
		switch s.Kind {
		case timeline.EventStep:
			events = append(events, s.Text)
		case timeline.CauseStep:
			causes = append(causes, s.Text)
		}
	}
	if f.First != nil && len(events) > 1 {
		events = events[len(events)-1:]
	}
	text := func(lines []string) string {
		return textfmt.Sentence(strings.TrimRight(strings.Join(lines, " "), ".;")) + "."
	}
	return slices.DeleteFunc([]string{text(events), text(causes)}, func(s string) bool { return s == "." })
}
