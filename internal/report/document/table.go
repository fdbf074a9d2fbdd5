package document

import (
	"fmt"
	"html/template"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Table is a table, which the reader can sort by each column.
type Table struct {
	Caption string
	Columns []Column
	Rows    []Row

	// Filters lets the reader narrow the rows down: to those with some words, and to those
	// in which something is marked as bad or open.
	Filters bool
}

// Column is the head of one.
type Column struct {
	Name string
	Help string // said when one points at it
}

// Row is as many cells as there are columns, or a heading for the rows that follow.
type Row struct {
	ID      string // its anchor; may be empty
	Heading string // then it has no cells
	Cells   []Cell
}

// Cell is one cell.
type Cell struct {
	Text string
	Mark Mark
	Link string // to an anchor ("#row"), or to a file beside the page; may be empty

	order string // what it is sorted by, if not by its text
}

// Text makes a cell of a text.
func Text(text string) Cell { return Cell{Text: text} }

// Number makes a cell that is sorted by a number, whatever it says.
func Number(v float64, text string) Cell {
	return Cell{Text: text, order: strconv.FormatFloat(v, 'g', -1, 64)}
}

// Count makes a cell of a number.
func Count(n int) Cell { return Number(float64(n), strconv.Itoa(n)) }

// Sort is the number by which the cell is sorted; empty: by its text.
func (c Cell) Sort() string { return c.order }

// A text of at most shortText characters stands on one line, and one of more than longText
// needs room: else both become columns of words. A table that is too wide for that scrolls.
const (
	shortText = 28
	longText  = 60
)

// Class is the cell's class in the page.
func (c Cell) Class() string {
	class := string(c.Mark)
	switch n := utf8.RuneCountInString(c.Text); {
	case c.order != "":
		class += " number"
	case n <= shortText:
		class += " short"
	case n <= longText:
		class += " text"
	default:
		class += " prose"
	}
	return strings.TrimSpace(class)
}

// Add appends a row of cells.
func (t *Table) Add(cells ...Cell) { t.Rows = append(t.Rows, Row{Cells: cells}) }

// Head appends a heading for the rows that follow.
func (t *Table) Head(text string) { t.Rows = append(t.Rows, Row{Heading: text}) }

// Named makes columns of names alone.
func Named(names ...string) []Column {
	all := make([]Column, len(names))
	for i, n := range names {
		all[i] = Column{Name: n}
	}
	return all
}

// HTML returns the table. It is an error if a row has more cells, or fewer, than there are
// columns.
func (t Table) HTML() (template.HTML, error) {
	for i, r := range t.Rows {
		if r.Heading == "" && len(r.Cells) != len(t.Columns) {
			return "", fmt.Errorf("row %d of a table has %d cells for %d columns", i+1, len(r.Cells), len(t.Columns))
		}
	}
	return render("table", t)
}
