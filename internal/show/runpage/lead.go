package runpage

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/promises"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/show/document"
	"github.com/lockstorm/lockstorm/internal/show/summary"
	"github.com/lockstorm/lockstorm/internal/show/timelinepage"
	"github.com/lockstorm/lockstorm/internal/show/verdicts"
	"github.com/lockstorm/lockstorm/internal/textfmt"
)

// lead says first what happened in a run and why, and then what was expected. anchor is the prefix of
// the run's anchors.
func (s Shown) lead(anchor string) (blocks []document.Block) {
	t := s.Tally()
	warning := s.warning()
	if warning != "" {
		blocks = append(blocks, document.Notice{Mark: document.Open, Text: warning})
	}
	mark, expected := expectation(s, t)
	if warning != "" {
		mark, expected = document.Bad, ""
	}
	l := lead{Mark: mark}
	if violated := s.violated(); len(violated) > 0 {
		first := s.told(s.Run.Report.Finding(violated[0]))
		l.Clauses = happened(first, anchor)
		if s.Run.Judged != nil {
			l.More = append(l.More, judged(*s.Run.Judged)...)
		} else {
			l.More = append(l.More, titles(violated)+areViolated(violated)+expected+".")
			l.More = append(l.More, s.standings(violated)...)
		}
		if helps := first.Remedies(); len(helps) > 0 {
			l.More = append(l.More, "What helps: "+strings.Join(helps, " "))
		}
	} else {
		if warning != "" {
			return append(blocks, s.strip())
		}
		l.Clauses = []clause{{Text: s.held()}}
		l.More = append(l.More, "Nothing is violated"+expected+".")
	}
	for _, f := range s.Run.Report.Findings {
		if f.Verdict == checker.Unknown {
			l.More = append(l.More, fmt.Sprintf("Undecided: %s %s: %s.", f.Property.Code(), f.Property.Title(), strings.TrimRight(f.Story(), ".;")))
		}
	}
	return append(blocks, l, s.strip())
}

func areViolated(list []checker.Property) string {
	if len(list) > 1 {
		return " are violated"
	}
	return " is violated"
}

// judged says which violations failed the test of a lock, and why the others did not.
func judged(j runner.Judged) (texts []string) {
	if len(j.Failed) > 0 {
		texts = append(texts, titles(j.Failed)+areViolated(j.Failed)+", which failed the test.")
	}
	for _, l := range j.Limits {
		texts = append(texts, fmt.Sprintf("Limit: %s is violated, but not promised, because %s.", titles([]checker.Property{l.Property}), l.Why))
	}
	return texts
}

// standings says which violations are limits of the lock and which are defects, in at most two sentences:
// first the defects, and of further limits only that they are.
func (s Shown) standings(violated []checker.Property) []string {
	var stands []string
	of := map[string][]checker.Property{}
	done := s.result().Executed()
	for _, p := range violated {
		stand := promises.Standing(done, p)
		if stand == "" {
			return nil
		}
		if of[stand] == nil {
			stands = append(stands, stand)
		}
		of[stand] = append(of[stand], p)
	}
	if i := slices.Index(stands, promises.Defect); i > 0 {
		stands = slices.Insert(slices.Delete(stands, i, i+1), 0, promises.Defect)
	}
	var texts []string
	for _, stand := range stands[:min(len(stands), mostStandings)] {
		if len(stands) > 1 {
			kind, why, _ := strings.Cut(stand, ": ")
			stand = fmt.Sprintf("%s (%s): %s", kind, codes(of[stand]), why)
		}
		texts = append(texts, textfmt.Sentence(stand)+".")
	}
	var rest []checker.Property
	for _, stand := range stands[len(texts):] {
		rest = append(rest, of[stand]...)
	}
	if len(rest) > 0 {
		last := &texts[len(texts)-1]
		*last = fmt.Sprintf("%s; limits, too: %s.", strings.TrimSuffix(*last, "."), codes(rest))
	}
	return texts
}

// mostStandings is how many sentences say what is a limit or a defect, so that the lead stays short.
const mostStandings = 2

// strip is the verdicts at a glance.
func (s Shown) strip() verdicts.Strip {
	var strip verdicts.Strip
	for _, f := range s.findings() {
		want, _ := s.Run.Scenario.Expect.Want(f.Property)
		if s.Slipped() {
			want = 0 // with no verdict there is nothing to compare
		}
		strip = append(strip, verdicts.Verdict{Property: f.Property, Found: f.Verdict, Expected: want})
	}
	return strip
}

// Sentence says what happened in the run, as its page does first.
func (s Shown) Sentence() string {
	var texts []string
	for _, b := range s.lead("") {
		switch b := b.(type) {
		case document.Notice:
			texts = append(texts, b.Text)
		case lead:
			texts = append(append(texts, b.sentence()), b.More...)
		}
	}
	return strings.Join(texts, " ")
}

// warning says why the verdicts of a run do not count; "": they do.
func (s Shown) warning() string {
	switch {
	case s.Run.Report.Cut != "":
		return "The history is cut short: " + s.Run.Report.Cut
	case s.Run.Cut:
		return "The run was stopped before its end. Properties without a violation so far are unknown."
	case s.Slipped():
		return textfmt.Sentence(s.Uncounted()) + ". The run does not count: its verdicts are unknown."
	}
	return ""
}

// held says in a sentence what a run without a violation shows.
func (s Shown) held() string {
	m := s.Run.Report.Measurements
	faults := "without a fault"
	if m.Faults > 0 {
		faults = "through " + textfmt.Count(m.Faults, "fault")
	}
	who := "Clients"
	if n := len(s.Run.Scenario.Clients); n > 0 {
		who = textfmt.Count(n, "client")
	}
	granted := "never granted"
	if m.Grants > 0 {
		granted = "granted " + textfmt.Count(m.Grants, "time")
	}
	text := fmt.Sprintf("%s used the lock %s: it was %s", who, faults, granted)
	if s.Run.Report.Finding(checker.Lease).Verdict == checker.Holds && m.Grants > 0 {
		return text + ", and no two clients held it at once."
	}
	return text + "."
}

// expectation compares a run with what its scenario expects. The text continues a sentence on
// what was found.
func expectation(s Shown, t runner.Tally) (document.Mark, string) {
	expect, violated := s.Run.Scenario.Expect, summary.Violated(t)
	if j := s.Run.Judged; j != nil {
		if len(j.Failed) > 0 {
			return document.Bad, ""
		}
		return document.Plain, ""
	}
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

// happened says in a sentence what a violation is, what caused it, and which assumption that broke.
// The assumption links to its explanation.
func happened(f checker.Finding, anchor string) []clause {
	text := what(f)
	if len(f.Causes) == 0 {
		return []clause{{Text: textfmt.Sentence(text) + "."}}
	}
	all := []clause{{Text: textfmt.Sentence(text)}}
	for i, c := range f.Causes {
		switch {
		case i > 0:
			text = ", and "
		case c.Assumption != "":
			text = ", because an assumption broke: "
		case f.Faultless:
			text = ". No fault took place: "
		default:
			text = ". The history shows no broken assumption: "
		}
		if c.Assumption == "" {
			all = append(all, clause{Text: text + c.Shown()})
			continue
		}
		all = append(all, clause{Text: text}, clause{Text: c.Assumption.Text(), Link: "#" + assumptionAnchor(anchor, c.Assumption)}, clause{Text: " (" + c.Shown() + ")"})
	}
	return append(all, clause{Text: "."})
}

// what is the violation as a clause: of two grants that they overlapped, and otherwise the events.
func what(f checker.Finding) string {
	if p := f.First; p != nil && p.First.Client != p.Second.Client && p.Overlap() > 0 {
		verb := "both held"
		if f.Property == checker.Section {
			verb = "both worked under the lock on"
		}
		return fmt.Sprintf("clients %d and %d %s %q for %s, from %s on", p.First.Client, p.Second.Client, verb, textfmt.Name(p.First.Resource),
			textfmt.Duration(p.Overlap()), textfmt.Duration(p.From.Sub(0)))
	}
	var events []string
	for _, s := range timelinepage.Story(f) {
		if s.Kind == timelinepage.EventStep {
			events = append(events, s.Text)
		}
	}
	if f.First != nil && len(events) > 1 {
		events = events[len(events)-1:]
	}
	return strings.Join(events, "; ")
}

// assumptionAnchor is the anchor of the explanation of an assumption.
func assumptionAnchor(anchor string, a checker.Assumption) string {
	return anchor + "assumption-" + string(a)
}

// assumptions explains the assumptions that the violations of the run broke, each once.
func (s Shown) assumptions(anchor string) (blocks []document.Block) {
	var seen []checker.Assumption
	for _, f := range s.findings() {
		for _, c := range f.Causes {
			if f.Verdict != checker.Violated || c.Assumption == "" || slices.Contains(seen, c.Assumption) {
				continue
			}
			seen = append(seen, c.Assumption)
			text, brokenBy, remedy := c.Assumption.Explain()
			blocks = append(blocks, document.Fold{
				ID: assumptionAnchor(anchor, c.Assumption), Summary: "Broken assumption: " + text,
				Blocks: []document.Block{document.Facts{{Name: "Broken by", Value: brokenBy}, {Name: "What helps", Value: remedy}, {Name: "Explained in", Value: "docs/findings.md#" + string(c.Assumption)}}},
			})
		}
	}
	return blocks
}
