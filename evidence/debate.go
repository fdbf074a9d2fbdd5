package main

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/show/report"
	"github.com/lockstorm/lockstorm/internal/show/summary"
	"github.com/lockstorm/lockstorm/internal/textfmt"
	"github.com/lockstorm/lockstorm/results"
	"github.com/lockstorm/lockstorm/scenarios"
)

// writeDebate makes the page of the debate: what "lockstorm run ROW" does not print itself.
func writeDebate(c *checkout) (string, error) {
	reference, found, err := c.load("reference", results.DebateFile)
	if err != nil {
		return "", err
	}
	p := &text{}
	p.say(`# The debate, row by row

Made by `+"`go -C evidence run . debate`"+` from results/reference; %s.

A row is one scenario, run with many seeds in the simulator. A series is one scenario at several values of a parameter. "lockstorm run ROW" repeats a row, and prints the story of its first violations; "lockstorm debate ROW" prints the table of a series.

- *Kleppmann*, *antirez*, *today* claim a verdict; numbers in brackets are [sources](#sources). A row without claims is ours.
- *expected*: ✗ violated in some run, ✓ holds in all; the others have nothing to judge. What was seen follows where it differs.
- *violated* is the share of the runs that violate those properties, with its 95 %% Wilson interval in percent; that of 100/100 is [96.3, 100].

%s.`, madeWith(reference.Versions), summary.Codes())
	cited := sources{numbers: map[string]int{}, parts: map[string][]string{}}
	for _, t := range scenarios.Topics() {
		p.say("\n## %s", t.Name)
		rows := &textfmt.Table{Head: slices.Concat([]string{"row", "what happens"}, report.Claimants(), []string{"expected", "violated"})}
		for _, r := range t.Rows {
			if tally, ran := found[r.Name]; ran {
				cells := []string{r.Name, r.Summary}
				for _, v := range scenarios.Voices(cited.mark(r.Claims)) {
					v.Undated = true
					cells = append(cells, v.Says())
				}
				rows.Add(append(cells, expected(r.Scenario)+unexpected(tally), violated(tally))...)
			}
		}
		p.table(rows)
		for _, s := range t.Series {
			if curve := found.Curve(s); len(curve.Tallies) > 0 {
				p.series(curve, cited.mark(s.Claims))
			}
		}
		p.remarks(t)
	}
	p.say("\n## Claims that are not tested here\n")
	for _, u := range scenarios.UntestedClaims() {
		p.say("- %s [%d]: %s.", u.Says, cited.number(u.Claim), u.Why)
	}
	p.say("\n## Sources\n")
	for _, document := range cited.documents {
		p.say("- %s: %s", document, strings.Join(cited.parts[document], ", "))
	}
	return p.String(), nil
}

// sources numbers what is cited, in the order of the first citations. A part of a document has a number of its own.
type sources struct {
	numbers   map[string]int // by part
	documents []string
	parts     map[string][]string // by document, each with its number
}

// number returns the number of a claim's source.
func (s *sources) number(c scenarios.Claim) int {
	title, section, _ := strings.Cut(c.Source, ", section ")
	document := fmt.Sprintf("%s %d, [%s](%s)", c.By, c.When, strings.Trim(title, `"`), c.Link())
	part := document + section
	if s.numbers[part] == 0 {
		s.numbers[part] = len(s.numbers) + 1
		if s.parts[document] == nil {
			s.documents = append(s.documents, document)
		}
		s.parts[document] = append(s.parts[document], strings.TrimSpace(fmt.Sprintf("[%d] %s", s.numbers[part], section)))
	}
	return s.numbers[part]
}

// mark adds the number of its source to each claim. The owner of an issue's repository stands with the source.
func (s *sources) mark(claims []scenarios.Claim) []scenarios.Claim {
	marked := slices.Clone(claims)
	for i, c := range claims {
		to := &marked[i].By
		if slices.Contains(report.Claimants(), c.By) {
			to = &marked[i].Says
		} else {
			*to = path.Base(c.By)
		}
		*to += fmt.Sprintf(" [%d]", s.number(c))
	}
	return marked
}

// expected returns the expected verdicts, without the properties of which there is nothing to judge.
func expected(s scenarios.Scenario) string {
	judged, _, _ := strings.Cut(summary.Grouped(s.Expect.Want), ", ·")
	return judged
}

// unexpected returns the verdicts over all runs, and the conclusion, if it is not as expected.
func unexpected(t runner.Tally) string {
	if summary.Worst([]runner.Tally{t}) == runner.AsExpected {
		return ""
	}
	return "; seen: " + summary.Signs(t) + ", " + t.Conclusion().String()
}

// violated returns the shares of the runs that violate properties.
func violated(t runner.Tally) string {
	var parts []string
	rates := summary.Rates(t)
	for _, g := range rates {
		text := g.Rate.String()
		if text != "100/100" {
			text += " " + g.Rate.Interval()
		}
		if len(rates) > 1 {
			text = strings.Join(g.Codes, " ") + ": " + text
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, "; ")
}

// series adds a series with the value at which it turns, and what is claimed of it.
func (p *text) series(c report.Curve, claims []scenarios.Claim) {
	line := fmt.Sprintf("- **%s**: %s. %s", report.SeriesName(c.Series), c.Summary, strings.ReplaceAll(c.Threshold(), "\n", " "))
	for _, v := range scenarios.Voices(claims) {
		v.Undated = true
		if said := v.Says(); said != "" {
			line += fmt.Sprintf(" %s: %s.", v.Name, said)
		}
	}
	p.say("%s", line)
}

// remarks adds the remarks on a topic's rows.
func (p *text) remarks(t scenarios.Topic) {
	head := "\nRemarks:\n\n"
	for _, r := range t.Rows {
		if r.Remark != "" {
			p.say("%s- %s: %s", head, r.Name, r.Remark)
			head = ""
		}
	}
}
