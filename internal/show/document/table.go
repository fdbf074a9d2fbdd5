package document

import (
	"fmt"
	"html/template"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Table is a table that the reader can sort by each column.
type Table struct {
	Caption string
	Columns []Column
	Rows    []Row

	// Filters lets the reader filter the rows by words, and by marks. The head and the first
	// column stay in sight. The rows are cards, too.
	Filters bool

	// Cards makes each row a card on a phone.
	Cards bool
}

// Column is the head of a column.
type Column struct {
	Name string
	Help string // tooltip
}

// Row has a cell for each column, or is a heading for the rows that follow.
type Row struct {
	ID      string // anchor; may be empty
	Heading string // if set, there are no cells
	Cells   []Cell
}

// Cell is a cell of a table.
type Cell struct {
	Text string
	Mark Mark
	Link string // to an anchor ("#row") or a file beside the page; may be empty

	order string // sort key; "": the text
}

// Text makes a cell of a text.
func Text(text string) Cell { return Cell{Text: text} }

// Number makes a cell that is sorted by a number.
func Number(v float64, text string) Cell {
	return Cell{Text: text, order: strconv.FormatFloat(v, 'g', -1, 64)}
}

// Count makes a cell of a number.
func Count(n int) Cell { return Number(float64(n), strconv.Itoa(n)) }

// Sort is the number by which the cell is sorted; "": by its text.
func (c Cell) Sort() string { return c.order }

// A text of up to shortText characters is not wrapped, one of more than longText gets a wide
// column. Other texts would become columns of words. A table that is too wide scrolls.
const (
	shortText = 28
	longText  = 60
)

// class is the cell's CSS class.
func (c Cell) class() string {
	class := string(c.Mark)
	if c.Text == "" || c.Text == "–" || c.Text == "·" {
		class += " none" // a card leaves it out
	}
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

// Named makes columns with names.
func Named(names ...string) []Column {
	all := make([]Column, len(names))
	for i, n := range names {
		all[i] = Column{Name: n}
	}
	return all
}

// Carded reports whether each row is a card on a phone.
func (t Table) Carded() bool { return t.Cards || t.Filters }

// HTML returns the table. A row with another number of cells than columns is an error.
func (t Table) HTML() (template.HTML, error) {
	for i, r := range t.Rows {
		if r.Heading == "" && len(r.Cells) != len(t.Columns) {
			return "", fmt.Errorf("row %d of a table has %d cells for %d columns", i+1, len(r.Cells), len(t.Columns))
		}
	}
	return render("table", tableView{t, t.views()})
}

// tableView is a table as the template shows it.
type tableView struct {
	Table
	Views []rowView
}

type rowView struct {
	Row
	Views []cellView
}

// cellView is a cell. Its label is the name of its column, for cards.
type cellView struct {
	Cell
	Class, Label string
}

func (t Table) views() []rowView {
	all := make([]rowView, len(t.Rows))
	for i, r := range t.Rows {
		all[i].Row = r
		for k, c := range r.Cells {
			v := cellView{Cell: c, Class: c.class()}
			if t.Carded() && k > 0 {
				v.Label = Short(t.Columns[k].Name)
			}
			all[i].Views = append(all[i].Views, v)
		}
	}
	return all
}
