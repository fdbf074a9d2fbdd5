package textfmt

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// Table is a head, or none, and lines of as many cells; a line of one cell begins a section.
type Table struct {
	Head  []string
	Lines [][]string
}

// Add appends a line.
func (t *Table) Add(cells ...string) { t.Lines = append(t.Lines, cells) }

// Section starts a section, unless the last one has that name.
func (t *Table) Section(name string) {
	for _, l := range slices.Backward(t.Lines) {
		if len(l) == 1 {
			if l[0] == name {
				return
			}
			break
		}
	}
	t.Add(name)
}

// Dash stands for nothing in a cell.
func Dash(text string) string {
	if text == "" {
		return "–"
	}
	return text
}

// Clip shortens what a cell has no room for: to so many characters at most.
func Clip(text string, most int) string {
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	return strings.TrimRight(string([]rune(text)[:most-1]), " ,;:") + "…"
}

// Look is how a table looks as text.
type Look struct {
	Width int // of a line, in characters; 0: as wide as it has to be

	// Head is the style of heads and sections, Cell that of other cells: they add what takes
	// no room on a terminal. Nil: nothing is added.
	Head, Cell func(string) string
}

const gap = 2 // between two columns

// Text prints the table for people. If a line has no room for all columns, they are printed in
// groups, one below the other, each with the first column.
func (t *Table) Text(out io.Writer, look Look) {
	if look.Width == 0 {
		look.Width = math.MaxInt
	}
	plain := func(text string) string { return text }
	if look.Head == nil {
		look.Head = plain
	}
	if look.Cell == nil {
		look.Cell = plain
	}
	all := t.widths()
	if len(all) == 1 {
		t.print(out, look)
	}
	for from := 1; from < len(all); {
		to, used := from+1, all[0]+gap+all[from]
		for to < len(all) && used+gap+all[to] <= look.Width {
			used += gap + all[to]
			to++
		}
		if from > 1 {
			_, _ = fmt.Fprintln(out)
		}
		t.columns(from, to).print(out, look)
		from = to
	}
}

// widths are how many characters each column takes.
func (t *Table) widths() []int {
	all := make([]int, len(t.Head))
	for _, l := range append([][]string{t.Head}, t.Lines...) {
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
func (t *Table) columns(from, to int) *Table {
	pick := func(l []string) []string {
		if len(l) <= 1 {
			return l
		}
		return append(l[:1:1], l[min(from, len(l)):min(to, len(l))]...)
	}
	part := &Table{Head: pick(t.Head)}
	for _, l := range t.Lines {
		part.Lines = append(part.Lines, pick(l))
	}
	return part
}

// Width is how wide the table is in characters if all columns stand side by side.
func (t *Table) Width() int {
	width := -gap
	for _, w := range t.widths() {
		width += gap + w
	}
	return width
}

// print prints the columns side by side.
func (t *Table) print(out io.Writer, look Look) {
	widths := t.widths()
	if len(t.Head) > 0 {
		printLine(out, look.Width, widths, strings.Split(strings.ToUpper(strings.Join(t.Head, "\t")), "\t"), look.Head)
	}
	for _, l := range t.Lines {
		if len(l) == 1 {
			_, _ = fmt.Fprintf(out, "\n%s\n", look.Head(l[0]))
			continue
		}
		printLine(out, look.Width, widths, l, look.Cell)
	}
}

// leastRoom is how many characters of a cell stand side by side, however narrow the terminal.
const leastRoom = 12

// printLine prints a line of cells, each in a style that takes no room. Text for which the last one has
// no room continues below, in the same column.
func printLine(out io.Writer, width int, widths []int, cells []string, style func(string) string) {
	last, before := len(cells)-1, ""
	var b strings.Builder
	for i, cell := range cells[:last] {
		b.WriteString(style(cell) + strings.Repeat(" ", max(widths[i]-utf8.RuneCountInString(cell), 0)+gap))
		before += strings.Repeat(" ", widths[i]+gap)
	}
	parts := []string{cells[last]}
	if !IsCommand(cells[last]) {
		parts = LinesOf(cells[last], max(width-len(before), leastRoom), utf8.RuneCountInString)
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

// Markdown prints the table for a page.
func (t *Table) Markdown(out io.Writer) {
	line := func(cells []string) {
		_, _ = fmt.Fprintf(out, "| %s |\n", strings.Join(cells, " | "))
	}
	line(t.Head)
	_, _ = fmt.Fprintln(out, strings.Repeat("|---", len(t.Head))+"|")
	for _, l := range t.Lines {
		cells := make([]string, len(l))
		for i, c := range l {
			cells[i] = strings.ReplaceAll(c, "|", `\|`)
		}
		if len(l) == 1 {
			cells = append([]string{"**" + cells[0] + "**"}, make([]string, len(t.Head)-1)...)
		}
		line(cells)
	}
}
