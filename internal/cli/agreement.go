package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/report"
	"github.com/lockstorm/lockstorm/internal/report/summary"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/terminal"
	"github.com/lockstorm/lockstorm/internal/textfmt"
	"github.com/lockstorm/lockstorm/results"
	"github.com/lockstorm/lockstorm/scenarios"
)

func newAgreement() *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use:   "agreement DIR DIR…",
		Short: "Compare the saved debates of different backends row by row",
		Long: `Compare saved debates ("lockstorm debate --save DIR") of several backends with the
first one, row by row: every property with an expected verdict should have the same
observed verdict. The output lists rows that a backend cannot run, with the reason,
and the known reason of each difference.

Exit codes: 1 a difference has no known reason, or a known difference did not occur;
3 a row was undecided or not run.`,
		Example: `  lockstorm agreement results/reference results/process
  lockstorm agreement results/reference results/process --format markdown`,
		Args: takes(2, anyNumber),
	}
	cmd.Flags().StringVar(&format, "format", asText, "text or markdown")
	cmd.RunE = func(cmd *cobra.Command, dirs []string) error {
		if err := checkFormat(format, asText, asMarkdown); err != nil {
			return err
		}
		var sides []report.Side
		for _, dir := range dirs {
			s, err := loadSide(dir)
			if err != nil {
				return err
			}
			if slices.ContainsFunc(sides, func(other report.Side) bool { return other.Name == s.Name }) {
				return fmt.Errorf("%s: another directory also has a debate on %s", dir, s.Name)
			}
			sides = append(sides, s)
		}
		a := report.Agree(scenarios.Topics(), sides, scenarios.Differences())
		v := agreementView{a}
		show := v.text
		if format == asMarkdown {
			show = v.page
		}
		if err := show(cmd.OutOrStdout()); err != nil {
			return err
		}
		return exitFor(a.Conclusion())
	}
	return cmd
}

func loadSide(dir string) (report.Side, error) {
	reference, err := results.LoadReference(dir, results.DebateFile)
	if err != nil {
		return report.Side{}, err
	}
	b, err := findBackend(reference.Backend)
	if err != nil {
		return report.Side{}, fmt.Errorf("%s: %w", dir, err)
	}
	found, err := report.TalliesOf(reference)
	if !judges(found, checker.Cleanup) { // it was stored when nobody watched the keys of real servers
		b.Backend = b.WithoutWatch()
	}
	return report.Side{Backend: b.Backend, Found: found, First: report.FirstSeeds(reference), Versions: reference.Versions}, err
}

// judges reports whether a property was judged in any run.
func judges(found report.Tallies, p checker.Property) bool {
	for _, tally := range found {
		for verdict, runs := range tally.Seen[p] {
			if verdict != checker.NotApplicable && runs > 0 {
				return true
			}
		}
	}
	return false
}

// agreementView is an agreement as it is printed.
type agreementView struct{ report.Agreement }

// text prints the agreement for a terminal.
func (a agreementView) text(out io.Writer) error {
	terminal.Fit(out)
	p := &page{out: out}
	printTable(p, a.shares())
	a.decidable(p)
	p.say("")
	printTable(p, a.table())
	p.say("\n%s.\n%s.", agreementLegend, summary.CodesWithin(terminal.On(out).Prose()))
	a.open(p, "\n%s:")
	return p.err
}

// page prints the agreement as a page of documentation.
func (a agreementView) page(out io.Writer) error {
	p := &page{out: out}
	first := a.Sides[0].Name
	p.say(`# Agreement: the same rows on different backends

Made by "make agreement" from stored debates.
Each backend runs each row of [the debate](debate.md) from the same scenario with the same plan. A backend agrees with the first, %s, on a row if each property that the row expects something of, and that both can judge, got the same verdict over all runs (violated if one run violated it). If the machine was too slow for the plan, the run is discarded and repeated. Series are omitted: their points are closer together than real time on a machine is exact.
`, first)
	for _, s := range a.Sides {
		p.say("- %s: %s", s.Name, madeWith(s.Versions))
	}
	p.say("\n## Which rows can be decided\n\nA backend can decide a row if it can carry out the plan and its verdicts are those of %s.", first)
	p.table(a.shares())
	a.decidable(p)
	p.say("\n## Row by row")
	p.table(a.table())
	p.say("%s. %s.", agreementLegend, summary.Codes())
	a.open(p, "\n## %s\n")
	return p.err
}

const agreementLegend = `✗ or ? with the number of runs in which the properties before it were violated or left open; ✓: everything expected of the row holds; ·: nothing to judge`

// shares counts the rows that each side has decided, by verdict.
func (a agreementView) shares() *textfmt.Table {
	t := &textfmt.Table{Head: []string{"backend", "rows", "can be run", "can be decided", "agree", "differ", "too slow, or not run"}}
	for i, s := range a.Sides {
		rows := len(a.Rows)
		able := rows - a.Count(i, report.Refused)
		decidable := able - a.Count(i, report.Differs, report.Unexplained)
		t.Add(s.Name, fmt.Sprint(rows), share(able, rows), share(decidable, rows), share(a.Count(i, report.Agrees), rows),
			fmt.Sprint(a.Count(i, report.Differs, report.Unexplained)), fmt.Sprint(a.Count(i, report.TooSlow, report.NotRun)))
	}
	return t
}

func share(n, of int) string {
	return fmt.Sprintf("%d, %s", n, runner.Rate{K: n, N: of}.Percent())
}

// table has a line for each row: the verdicts of each side, and whether they agree.
func (a agreementView) table() *textfmt.Table {
	t := &textfmt.Table{Head: []string{"row"}}
	for _, s := range a.Sides {
		t.Head = append(t.Head, s.Name)
	}
	t.Head = append(t.Head, "agreement")
	for _, r := range a.Rows {
		t.Section(r.Topic)
		line, words := []string{r.Name}, []string{}
		for i, c := range r.Cells {
			line = append(line, c.String())
			if text := c.Short(); i > 0 && !slices.Contains(words, text) {
				words = append(words, text)
			}
		}
		t.Add(append(line, strings.Join(words, "; "))...)
	}
	return t
}

// decidable lists the rows and properties that a side cannot decide, with the reason.
func (a agreementView) decidable(p *page) {
	for i, s := range a.Sides[1:] {
		if missing := a.notJudged(i + 1); len(missing) > 0 {
			p.say("\nNot judged on %s, whose histories lack what it takes: %s.", s.Name, strings.Join(missing, ", "))
		}
	}
	a.list(p, "\n%s\n", "What cannot be run:", func(c report.Cell) []string {
		if c.ComparisonStatus != report.Refused {
			return nil
		}
		return []string{c.Refusal.Error()}
	})
	a.list(p, "\n%s\n", "What differs:", func(c report.Cell) (all []string) {
		for _, d := range c.Differences {
			text := fmt.Sprintf("%s %s, and %s on %s", d.Code(), d.Here, d.There, a.Sides[0].Name)
			if d.Reason == "" {
				text += "; NO REASON IS KNOWN"
			} else {
				text += ": " + d.Reason
			}
			all = append(all, text)
		}
		return all
	})
}

// notJudged lists the properties with expected verdicts that a side never judges.
func (a agreementView) notJudged(side int) (list []string) {
	for _, p := range checker.Properties() {
		judged := func(i int) bool {
			return slices.ContainsFunc(a.Rows, func(r report.ComparedRow) bool { return slices.Contains(r.Cells[i].Judged, p) })
		}
		if judged(0) && !judged(side) {
			list = append(list, p.Code()+" "+p.Title())
		}
	}
	return list
}

// open lists what is left to do: rows to run again, reasons that no longer apply. heading prints a
// title.
func (a agreementView) open(p *page, heading string) {
	a.list(p, heading, "What is undecided", func(c report.Cell) []string {
		switch c.ComparisonStatus {
		case report.TooSlow:
			return []string{summary.Slowness(c.Tally)}
		case report.NotRun:
			return []string{"was not run"}
		}
		return nil
	})
	for i, d := range a.Obsolete {
		if i == 0 {
			p.say(heading, "Reasons for no difference")
		}
		p.say("- %s, %s on %s: %s", d.Row, d.Property.Code(), d.Backend, d.Reason)
	}
}

// list lists the remarks on cells.
func (a agreementView) list(p *page, heading, title string, say func(report.Cell) []string) {
	said := false
	for _, r := range a.Rows {
		for i, c := range r.Cells {
			for _, text := range say(c) {
				if !said {
					p.say(heading, title)
					said = true
				}
				p.say("- %s on %s: %s", r.Name, a.Sides[i].Name, text)
			}
		}
	}
}
