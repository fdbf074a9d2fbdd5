package main

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"unicode/utf8"

	"github.com/lockstorm/lockstorm/report/account"
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
	o := account.Table{Lines: t.lines}
	o.Section(name)
	t.lines = o.Lines
}

// tableOf is a table of words as it is printed.
func tableOf(t *account.Table) *table { return &table{head: t.Head, lines: t.Lines} }

const gap = 2 // between two columns

// text prints the table for a terminal.
func (t *table) text(out io.Writer) {
	var b bytes.Buffer
	w := tabwriter.NewWriter(&b, 0, 0, gap, ' ', 0)
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

// screen is how many characters of a line a terminal is sure to have room for.
const screen = 119

// wrapped prints the table for a terminal of a width: where it is wider, its columns one
// group under the other, each behind the first column.
func (t *table) wrapped(out io.Writer, width int) {
	for from := 1; from < len(t.head); {
		to, used := from+1, t.width(0)+t.width(from)
		for to < len(t.head) && used+t.width(to) <= width {
			used += t.width(to)
			to++
		}
		if from > 1 {
			_, _ = fmt.Fprintln(out)
		}
		t.columns(from, to).text(out)
		from = to
	}
}

// width is how many characters a column takes, with the space before it.
func (t *table) width(column int) int {
	widest := utf8.RuneCountInString(t.head[column])
	for _, l := range t.lines {
		if column < len(l) {
			widest = max(widest, utf8.RuneCountInString(l[column]))
		}
	}
	if column > 0 {
		widest += gap
	}
	return widest
}

// columns is the table with its first column and some others.
func (t *table) columns(from, to int) *table {
	part := &table{head: append(t.head[:1:1], t.head[from:to]...)}
	for _, l := range t.lines {
		if len(l) > 1 {
			l = append(l[:1:1], l[from:to]...)
		}
		part.lines = append(part.lines, l)
	}
	return part
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
func dash(text string) string { return account.Dash(text) }
