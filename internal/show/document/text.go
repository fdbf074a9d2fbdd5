package document

import (
	"fmt"
	"io"
	"strings"

	"github.com/lockstorm/lockstorm/internal/textfmt"
)

// Textual is a block that can be printed as text.
type Textual interface {
	Block
	AsText(width int) string // wrapped at about width characters
}

// WriteText writes the document as text. Tables may be wider than width. Blocks that are not
// [Textual] are mentioned as drawings.
func (d *Document) WriteText(out io.Writer, width int) error {
	var b strings.Builder
	title := func(text, line string) {
		fmt.Fprintf(&b, "%s\n%s\n\n", text, strings.Repeat(line, len([]rune(text))))
	}
	title(d.Title, "=")
	if d.Lead != "" {
		b.WriteString(Prose(d.Lead).AsText(width) + "\n")
	}
	for _, s := range d.Sections {
		title(s.Title, "-")
		b.WriteString(textOf(s.Blocks, width))
	}
	for _, l := range d.Foot {
		b.WriteString(lines(l, width))
	}
	_, err := io.WriteString(out, b.String())
	return err
}

// textOf returns blocks as text, each with an empty line after it.
func textOf(blocks []Block, width int) string {
	var b strings.Builder
	for _, one := range blocks {
		text := "(drawn on the page alone)\n"
		if p, ok := one.(Textual); ok {
			text = p.AsText(width)
		}
		b.WriteString(text + "\n")
	}
	return b.String()
}

// lines wraps a text.
func lines(text string, width int) string {
	return strings.Join(textfmt.Lines(text, width), "\n") + "\n"
}

// AsText returns the paragraph.
func (p Prose) AsText(width int) string { return lines(string(p), width) }

// AsText returns the heading.
func (h Heading) AsText(int) string { return string(h) + "\n" }

// AsText returns the lines unchanged, indented.
func (c Code) AsText(int) string {
	return "    " + strings.ReplaceAll(strings.TrimSuffix(string(c), "\n"), "\n", "\n    ") + "\n"
}

// AsText returns the paragraph.
func (n Notice) AsText(width int) string { return lines(n.Text, width) }

// AsText returns one group after another.
func (c Columns) AsText(width int) string {
	var b strings.Builder
	for _, group := range c {
		b.WriteString(textOf(group, width))
	}
	return b.String()
}

// AsText returns one or more lines for each fact.
func (f Facts) AsText(width int) string {
	var b strings.Builder
	for _, one := range f {
		b.WriteString(lines(one.Name+": "+one.Value, width))
	}
	return b.String()
}

// AsText returns the folded blocks.
func (f Fold) AsText(width int) string { return f.Summary + "\n\n" + textOf(f.Blocks, width) }

// AsText returns the caption and the table.
func (f Figure) AsText(width int) string {
	text := lines(f.Caption, width)
	if f.Data != nil {
		text += f.Data.AsText(width)
	}
	return text
}

// AsText returns the table with all columns side by side, however wide.
func (t Table) AsText(int) string {
	var b strings.Builder
	if t.Caption != "" {
		b.WriteString(t.Caption + "\n")
	}
	var plain textfmt.Table
	for _, c := range t.Columns {
		plain.Head = append(plain.Head, c.Name)
	}
	for _, r := range t.Rows {
		if r.Heading != "" {
			plain.Add(r.Heading)
			continue
		}
		cells := make([]string, len(r.Cells))
		for i, c := range r.Cells {
			cells[i] = oneLine.Replace(c.Text)
		}
		plain.Add(cells...)
	}
	plain.Text(&b, textfmt.Look{})
	return b.String()
}

// oneLine keeps the text of a cell on one line.
var oneLine = strings.NewReplacer("\t", " ", "\n", " ")
