package runpage

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/show/document"
	"github.com/lockstorm/lockstorm/internal/show/sequence"
	"github.com/lockstorm/lockstorm/internal/show/summary"
	"github.com/lockstorm/lockstorm/internal/show/timelinepage"
	"github.com/lockstorm/lockstorm/internal/show/verdicts"
	"github.com/lockstorm/lockstorm/internal/textfmt"
)

// Verdicts prints the verdicts of the run as signs.
func (s Shown) Verdicts() string {
	found := checker.Report{Findings: s.findings()}.Verdicts()
	return summary.Grouped(func(p checker.Property) (checker.Verdict, bool) {
		v, judged := found[p]
		return v, judged && v != checker.NotApplicable
	})
}

// Blocks shows all details of a run: what happened, over time and message by message, and below
// it the verdicts and the setting. anchor is a prefix of its anchors on a page with several runs.
// messages may be empty.
func (s Shown) Blocks(anchor string, messages ...document.Block) ([]document.Block, error) {
	run := s.Run
	course, err := s.course(anchor)
	if err != nil {
		return nil, err
	}
	verdicts := []document.Block{document.Heading("Verdicts"), s.verdictTable()}
	if len(run.Scenario.Clients) > 0 {
		verdicts = []document.Block{document.Columns{verdicts, {document.Heading("Setting"), summary.FactsOf(summary.Setting(run.Scenario.Scenario))}}}
	}
	blocks := slices.Concat(s.lead(anchor), course, s.assumptions(anchor), inevitableBlocks(s.Inevitable), messages, verdicts)
	if s.Command != "" {
		blocks = append(blocks, document.Code(s.Command))
	}
	blocks = append(blocks, summary.FiguresOf(run.Report.Measurements.Figures(1)))
	if len(run.Scenario.Clients) > 0 {
		var yaml strings.Builder
		if err := run.Scenario.Print(&yaml); err != nil {
			return nil, err
		}
		blocks = append(blocks, document.Fold{Summary: "the scenario with the executed plan, as YAML", Blocks: []document.Block{document.Code(yaml.String())}})
	}
	return blocks, nil
}

// Assets returns what the blocks of a run need.
func Assets() []document.Assets {
	return slices.Concat(verdicts.Strip{}.Assets(), lead{}.Assets(), timelinepage.Model{}.Block().Assets(), sequence.Diagram{}.Block().Assets())
}

// course is the timeline with the findings or, without a history, the findings alone. A run that slipped
// has none that counts.
func (s Shown) course(anchor string) ([]document.Block, error) {
	found := s.Run.Report
	found.Findings = slices.Clone(found.Findings)
	for i, f := range found.Findings {
		found.Findings[i] = s.told(f)
	}
	slices.SortStableFunc(found.Findings, func(a, b checker.Finding) int { return s.rank(a.Property) - s.rank(b.Property) })
	if s.Slipped() {
		found.Findings = nil
	}
	if s.History == nil {
		return stories(found), nil
	}
	run := timelinepage.Run{Open: s.History, Report: found}
	if len(s.Run.Scenario.Clients) > 0 {
		run.Scenario = &s.Run.Scenario.Scenario
	}
	m, err := timelinepage.Read(run)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.Title, err)
	}
	m.Anchor = anchor
	return []document.Block{m.Block()}, nil
}

// stories describes what is violated or undecided.
func stories(found checker.Report) (all []document.Block) {
	for _, f := range found.Findings {
		mark := document.Bad
		switch f.Verdict {
		case checker.Unknown:
			mark = document.Open
		case checker.Violated:
		default:
			continue
		}
		all = append(all, document.Notice{Mark: mark, Text: fmt.Sprintf("%s %s %v: %s", f.Property.Code(), f.Property.Title(), f.Verdict, f.Story())})
	}
	return all
}

// promise says whether a violated property was promised of a lock that was tested; "–": nothing is known.
func (s Shown) promise(p checker.Property) string {
	if j := s.Run.Judged; j != nil {
		if slices.Contains(j.Failed, p) {
			return "promised"
		}
		if slices.ContainsFunc(j.Limits, func(l runner.Limit) bool { return l.Property == p }) {
			return "limit: not promised"
		}
	}
	return "–"
}

// verdictTable has a line for each property that was checked.
func (s Shown) verdictTable() document.Table {
	t := document.Table{Cards: true, Columns: document.Named("", "property", "expected", "found", "violations")}
	for _, f := range s.findings() {
		expected, mark := s.promise(f.Property), document.Plain
		if want, wanted := s.Run.Scenario.Expect.Want(f.Property); wanted {
			expected = summary.Sign(want) + " " + want.String()
			if want != f.Verdict {
				mark = document.Bad
			} else {
				mark = document.Good
			}
		} else if f.Verdict == checker.Violated {
			mark = document.Bad
		}
		if f.Verdict == checker.Unknown {
			mark = document.Open
		}
		t.Add(document.Text(f.Property.Code()), document.Text(f.Property.Title()), document.Text(expected),
			document.Cell{Text: summary.Sign(f.Verdict) + " " + f.Verdict.String(), Mark: mark}, document.Count(f.Count))
	}
	switch why := s.Uncounted(); {
	case why != "":
		t.Caption = textfmt.Sentence(why) + ". The run does not count."
	case s.Run.Slip > 0:
		t.Caption = fmt.Sprintf("The machine was late by at most %v.", s.Run.Slip.Round(time.Microsecond))
	}
	return t
}
