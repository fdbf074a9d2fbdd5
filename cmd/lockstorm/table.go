package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/lockstorm/lockstorm/internal/terminal"
	"github.com/lockstorm/lockstorm/internal/words"
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

// table is a head, or none, and lines of as many cells; a line of one cell begins a section.
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

// text prints the table for people. A terminal that is too narrow for it gets its columns
// one group under the other, each behind the first column.
func (t *table) text(out io.Writer) {
	width := math.MaxInt
	if s := terminal.On(out); s.Terminal {
		width = s.Width
	}
	t.within(out, width)
}

// wrapped prints the table likewise, and elsewhere than on a terminal in groups, too.
func (t *table) wrapped(out io.Writer) { t.within(out, terminal.On(out).Width) }

// within prints the table in groups of columns that are no wider than width.
func (t *table) within(out io.Writer, width int) {
	all := t.widths()
	for from := 1; from < len(all); {
		to, used := from+1, all[0]+gap+all[from]
		for to < len(all) && used+gap+all[to] <= width {
			used += gap + all[to]
			to++
		}
		if from > 1 {
			_, _ = fmt.Fprintln(out)
		}
		t.columns(from, to).print(out, width)
		from = to
	}
}

// widths are how many characters each column takes.
func (t *table) widths() []int {
	all := make([]int, len(t.head))
	for _, l := range append([][]string{t.head}, t.lines...) {
		for i, cell := range l {
			if i == len(all) {
				all = append(all, 0)
			}
			all[i] = max(all[i], utf8.RuneCountInString(cell))
		}
	}
	return all
}

// columns is the table with its first column and some others.
func (t *table) columns(from, to int) *table {
	pick := func(l []string) []string {
		if len(l) <= 1 {
			return l
		}
		return append(l[:1:1], l[min(from, len(l)):min(to, len(l))]...)
	}
	part := &table{head: pick(t.head)}
	for _, l := range t.lines {
		part.lines = append(part.lines, pick(l))
	}
	return part
}

// print prints the columns side by side. What the last one has no room for stands below, in
// the same column.
func (t *table) print(out io.Writer, width int) {
	screen, all := terminal.On(out), t.widths()
	if len(t.head) > 0 {
		t.line(out, all, width, strings.Split(strings.ToUpper(strings.Join(t.head, "\t")), "\t"), screen.Strong)
	}
	for _, l := range t.lines {
		if len(l) == 1 {
			_, _ = fmt.Fprintf(out, "\n%s\n", screen.Strong(l[0]))
			continue
		}
		t.line(out, all, width, l, screen.Verdicts)
	}
}

// leastRoom is how many characters of a cell stand side by side, however narrow the terminal.
const leastRoom = 12

// line prints a line of cells, each in a style that takes no room.
func (t *table) line(out io.Writer, widths []int, width int, cells []string, style func(string) string) {
	last, before := len(cells)-1, ""
	var b strings.Builder
	for i, cell := range cells[:last] {
		b.WriteString(style(cell) + strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell)+gap))
		before += strings.Repeat(" ", widths[i]+gap)
	}
	parts := []string{cells[last]}
	if !words.IsCommand(cells[last]) {
		parts = words.LinesOf(cells[last], max(width-len(before), leastRoom), utf8.RuneCountInString)
	}
	for i, part := range parts {
		if i > 0 {
			b.WriteString(before)
		}
		b.WriteString(style(part))
		_, _ = fmt.Fprintln(out, strings.TrimRight(b.String(), " "))
		b.Reset()
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
func dash(text string) string { return account.Dash(text) }
