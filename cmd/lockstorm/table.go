package main

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"unicode/utf8"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/storm"
)

// The formats in which tables are printed.
const (
	asText     = "text"
	asMarkdown = "markdown"
	asJSON     = "json"
)

func checkFormat(format string) error {
	if slices.Contains([]string{asText, asMarkdown, asJSON}, format) {
		return nil
	}
	return fmt.Errorf("unknown format %q: want %s, %s or %s", format, asText, asMarkdown, asJSON)
}

// table is a head and lines of as many cells; a line of one cell begins a section.
type table struct {
	head  []string
	lines [][]string
}

func (t *table) add(cells ...string) { t.lines = append(t.lines, cells) }

// section begins a section, unless the one before is of that name.
func (t *table) section(name string) {
	for _, l := range slices.Backward(t.lines) {
		if len(l) == 1 {
			if l[0] == name {
				return
			}
			break
		}
	}
	t.add(name)
}

// text prints the table for a terminal.
func (t *table) text(out io.Writer) {
	var b bytes.Buffer
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(w, strings.ToUpper(strings.Join(t.head, "\t")))
	for _, l := range t.lines {
		if len(l) == 1 { // with empty cells, lest the columns end here
			_, _ = fmt.Fprintln(w, strings.Repeat("\t", len(t.head)-1))
		}
		_, _ = fmt.Fprintln(w, strings.Join(l, "\t")+strings.Repeat("\t", len(t.head)-len(l)))
	}
	_ = w.Flush()
	for l := range strings.Lines(b.String()) {
		_, _ = fmt.Fprintln(out, strings.TrimRight(l, " \n"))
	}
}

// markdown prints the table for a page.
func (t *table) markdown(out io.Writer) {
	line := func(cells []string) {
		_, _ = fmt.Fprintf(out, "| %s |\n", strings.Join(cells, " | "))
	}
	line(t.head)
	_, _ = fmt.Fprintln(out, strings.Repeat("|---", len(t.head))+"|")
	for _, l := range t.lines {
		cells := make([]string, len(l))
		for i, c := range l {
			cells[i] = strings.ReplaceAll(c, "|", `\|`)
		}
		if len(l) == 1 {
			cells = append([]string{"**" + cells[0] + "**"}, make([]string, len(t.head)-1)...)
		}
		line(cells)
	}
}

// clip shortens what a cell has no room for.
func clip(text string, most int) string {
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	return strings.TrimRight(string([]rune(text)[:most-1]), " ,;:") + "…"
}

// dash stands for nothing in a cell.
func dash(text string) string {
	if text == "" {
		return "–"
	}
	return text
}

// sign is a verdict in one character.
func sign(v checker.Verdict) string {
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

// signs are the verdicts over all runs; behind one that was not expected stands,
// in brackets, what was. Of a property that is not spoken of nothing is expected.
func signs(t storm.Tally) string {
	var parts []string
	for _, p := range checker.Properties() {
		observed := t.Observed(p)
		text := p.Code() + sign(observed)
		if want, wanted := t.Scenario.Expect.Want(p); wanted && want != observed {
			text += "(" + sign(want) + ")"
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, " ")
}

// legend explains the signs and codes.
func legend() string {
	return "✓ holds  ✗ violated  ? unknown  · nothing to judge  (✓) behind it: what was expected instead\n" + codes()
}

func codes() string {
	var parts []string
	for _, p := range checker.Properties() {
		parts = append(parts, p.Code()+" "+p.Title())
	}
	return strings.Join(parts, ", ")
}
