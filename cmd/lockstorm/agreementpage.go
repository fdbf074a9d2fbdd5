package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/terminal"
	"github.com/lockstorm/lockstorm/storm"
)

// text prints the agreement for a terminal.
func (a agreement) text(out io.Writer) error {
	terminal.Fit(out)
	p := &page{out: out}
	a.shares().text(p)
	a.decidable(p)
	p.say("")
	a.table().text(p)
	p.say("\n%s.\n%s.", agreementLegend, codesWithin(terminal.On(out).Prose()))
	a.open(p, "\n%s:")
	return p.err
}

// page prints the agreement as a page of documentation.
func (a agreement) page(out io.Writer) error {
	p := &page{out: out}
	first := a.sides[0].Name
	p.say(`# Agreement: the same rows on different backends

Made by "make agreement" of what debates have shown.
Each row of [the debate](debate.md) is run from the same scenario, with the same plan, on each backend. A backend agrees with the first, %s, on a row if every property of which the row expects something, and that can be judged on both, got the same verdict over all runs: violated if one run showed it. A run in which the machine was too slow for the plan says nothing, and is run again. Series are left out here: their points lie closer to each other than a machine in real time is exact.
`, first)
	for _, s := range a.sides {
		p.say("- %s: %s", s.Name, madeWith(s.versions))
	}
	p.say("\n## Which rows can be decided\n\nA backend can decide a row if it can carry out its plan, and shows what %s shows.", first)
	p.table(a.shares())
	a.decidable(p)
	p.say("\n## Row by row")
	p.table(a.table())
	p.say("%s. %s.", agreementLegend, codes())
	a.open(p, "\n## %s\n")
	return p.err
}

const agreementLegend = `In how many runs what is violated (✗) or open (?) was so; ✓: all that is expected of the row holds; ·: there was nothing to judge`

// shares says of how many rows each side has decided, and how.
func (a agreement) shares() *table {
	t := &table{head: []string{"backend", "rows", "can be run", "can be decided", "agree", "differ", "too slow, or not run"}}
	for i, s := range a.sides {
		rows := len(a.rows)
		able := rows - a.count(i, refused)
		decidable := able - a.count(i, differs, unexplained)
		t.add(s.Name, fmt.Sprint(rows), share(able, rows), share(decidable, rows), share(a.count(i, agrees), rows),
			fmt.Sprint(a.count(i, differs, unexplained)), fmt.Sprint(a.count(i, tooSlow, notRun)))
	}
	return t
}

func share(n, of int) string {
	return fmt.Sprintf("%d, %s", n, storm.Rate{K: n, N: of}.Percent())
}

// table has a line for each row: what each side has shown, and how they compare.
func (a agreement) table() *table {
	t := &table{head: []string{"row"}}
	for _, s := range a.sides {
		t.head = append(t.head, s.Name)
	}
	t.head = append(t.head, "agreement")
	for _, r := range a.rows {
		t.section(r.topic)
		line, words := []string{r.Name}, []string{}
		for i, c := range r.cells {
			line = append(line, c.String())
			if text := c.word(); i > 0 && !slices.Contains(words, text) {
				words = append(words, text)
			}
		}
		t.add(append(line, strings.Join(words, "; "))...)
	}
	return t
}

// word says in short how a cell compares.
func (c cell) word() string {
	switch c.standing {
	case agrees:
		return "yes"
	case differs:
		return "no, for a reason"
	case unexplained:
		return "no"
	case refused:
		return "cannot be run"
	}
	return "undecided"
}

// String is what was found, in short.
func (c cell) String() string {
	switch c.standing {
	case refused, notRun:
		return "–"
	}
	type group struct{ codes, text string } // of neighbours that were found alike
	var found []group
	for _, p := range c.judged {
		v := c.tally.Observed(p)
		if v == checker.Holds || v == checker.NotApplicable && c.tally.Scenario.Expect[p] == v {
			continue
		}
		text := fmt.Sprintf("%s %d/%d", sign(v), c.tally.Seen[p][v], c.tally.Runs)
		if last := len(found) - 1; last >= 0 && found[last].text == text {
			found[last].codes += " " + p.Code()
		} else {
			found = append(found, group{p.Code(), text})
		}
	}
	if len(found) == 0 {
		return fmt.Sprintf("✓ %d/%[1]d", c.tally.Runs)
	}
	parts := make([]string, len(found))
	for i, g := range found {
		parts[i] = g.codes + " " + g.text
	}
	return strings.Join(parts, ", ")
}

// decidable says which rows a side cannot decide, and which properties, and why.
func (a agreement) decidable(p *page) {
	for i, s := range a.sides[1:] {
		if missing := a.notJudged(i + 1); len(missing) > 0 {
			p.say("\nNot judged on %s, whose histories lack what it takes: %s.", s.Name, strings.Join(missing, ", "))
		}
	}
	a.list(p, "\n%s\n", "What cannot be run:", func(c cell) []string {
		if c.standing != refused {
			return nil
		}
		return []string{c.refusal.Error()}
	})
	a.list(p, "\n%s\n", "What differs:", func(c cell) (all []string) {
		for _, d := range c.differences {
			text := fmt.Sprintf("%s %s, and %s on %s", d.Code(), d.here, d.there, a.sides[0].Name)
			if d.reason == "" {
				text += "; NO REASON IS KNOWN"
			} else {
				text += ": " + d.reason
			}
			all = append(all, text)
		}
		return all
	})
}

// notJudged lists the properties that rows expect something of which a side never judges.
func (a agreement) notJudged(side int) (list []string) {
	for _, p := range checker.Properties() {
		judged := func(i int) bool {
			return slices.ContainsFunc(a.rows, func(r comparedRow) bool { return slices.Contains(r.cells[i].judged, p) })
		}
		if judged(0) && !judged(side) {
			list = append(list, p.Code()+" "+p.Title())
		}
	}
	return list
}

// open tells what is to be done: rows to be run again, reasons to be taken back. heading
// is how a title is printed.
func (a agreement) open(p *page, heading string) {
	a.list(p, heading, "What is undecided", func(c cell) []string {
		switch c.standing {
		case tooSlow:
			return []string{slowness(c.tally)}
		case notRun:
			return []string{"was not run"}
		}
		return nil
	})
	for i, d := range a.stray {
		if i == 0 {
			p.say(heading, "Reasons for no difference")
		}
		p.say("- %s, %s on %s: %s", d.Row, d.Property.Code(), d.Backend, d.Reason)
	}
}

// list lists what there is to say of cells.
func (a agreement) list(p *page, heading, title string, say func(cell) []string) {
	said := false
	for _, r := range a.rows {
		for i, c := range r.cells {
			for _, text := range say(c) {
				if !said {
					p.say(heading, title)
					said = true
				}
				p.say("- %s on %s: %s", r.Name, a.sides[i].Name, text)
			}
		}
	}
}
