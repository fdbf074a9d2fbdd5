package verdicts

import (
	"fmt"
	"html/template"
	"slices"
	"strings"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/show/document"
	"github.com/lockstorm/lockstorm/internal/show/summary"
	"github.com/lockstorm/lockstorm/internal/textfmt"
)

// Matrix is a table with a row for each scenario or lock, and a narrow column for each property. On
// a narrow screen each row is a card.
type Matrix struct {
	Caption   string
	First     string            // head of the first column
	Claimants []string          // heads of the columns of claims; may be empty
	Shares    bool              // there is a column of shares
	Columns   []document.Column // heads of further columns

	// Filters lets the reader filter the rows by words and by verdicts.
	Filters bool

	Rows []Row
}

// Row is a row of a matrix, or a heading for the rows that follow.
type Row struct {
	Heading bool // there are no cells but the name

	Name    string
	Link    string // anchor of the name ("#row-calm"); may be empty
	Summary string // behind the name; may be empty
	Variant bool   // the row varies the one above

	Claims   []Claim   // one for each claimant
	Verdicts []Verdict // one for each property
	Shares   []summary.Share
	Trend    *Trend // instead of shares; may be nil

	Cells []document.Cell // of the further columns
}

// Claim is what somebody says of a row.
type Claim struct {
	Text   string // "": nothing
	Source string // article and section; may be empty
	URL    string // of the article; may be empty
}

// HTML returns the matrix. A row with another number of cells than columns is an error.
func (m Matrix) HTML() (template.HTML, error) {
	for _, r := range m.Rows {
		if !r.Heading && (len(r.Claims) != len(m.Claimants) || len(r.Verdicts) != len(checker.Properties()) || len(r.Cells) != len(m.Columns)) {
			return "", fmt.Errorf("row %s of a matrix has %d claims, %d verdicts and %d cells for %d, %d and %d columns",
				r.Name, len(r.Claims), len(r.Verdicts), len(r.Cells), len(m.Claimants), len(checker.Properties()), len(m.Columns))
		}
	}
	v := view{Matrix: m, Properties: checker.Properties(), SharesHead: shareHead, Width: 1 + len(m.Claimants) + len(checker.Properties()) + len(m.Columns)}
	if m.Shares {
		v.Width++
	}
	for _, r := range m.Rows {
		v.Views = append(v.Views, m.view(r))
	}
	return render("matrix", v)
}

// view is a matrix as the template shows it.
type view struct {
	Matrix
	Properties []checker.Property
	Width      int    // columns
	SharesHead string // of the column of shares
	Views      []rowView
}

type rowView struct {
	Row
	Claims  []labelled[Claim]
	Signs   []signView
	Cells   []labelled[document.Cell]
	Highest float64 // the share by which the row is sorted
}

type signView struct {
	Verdict
	Order int
}

// labelled is a cell with the name of its column, which a card shows.
type labelled[T any] struct {
	Cell  T
	Label string
}

func (m Matrix) view(r Row) rowView {
	v := rowView{Row: r, Highest: r.highest()}
	for i, c := range r.Claims {
		v.Claims = append(v.Claims, labelled[Claim]{c, m.Claimants[i]})
	}
	for _, one := range r.Verdicts {
		v.Signs = append(v.Signs, signView{one, one.order()})
	}
	for i, c := range r.Cells {
		v.Cells = append(v.Cells, labelled[document.Cell]{c, m.Columns[i].Name})
	}
	return v
}

// highest is the largest share of the row.
func (r Row) highest() float64 {
	most := 0.0
	for _, s := range r.Shares {
		most = max(most, s.Rate.Share())
	}
	if r.Trend != nil {
		for _, p := range r.Trend.Points {
			most = max(most, p.Rate.Share())
		}
	}
	return most
}

// Assets returns the style.
func (m Matrix) Assets() []document.Assets { return assets() }

// AsText returns the matrix as a plain table.
func (m Matrix) AsText(width int) string { return m.plain().AsText(width) }

func (m Matrix) plain() document.Table {
	t := document.Table{Caption: m.Caption, Columns: document.Named(slices.Concat([]string{m.First}, m.Claimants)...)}
	for _, p := range checker.Properties() {
		t.Columns = append(t.Columns, document.Column{Name: p.Code()})
	}
	if m.Shares {
		t.Columns = append(t.Columns, document.Column{Name: shareHead})
	}
	t.Columns = append(t.Columns, m.Columns...)
	for _, r := range m.Rows {
		if r.Heading {
			t.Head(r.Name)
			continue
		}
		cells := []document.Cell{document.Text(r.Name)}
		for _, c := range r.Claims {
			cells = append(cells, document.Text(textfmt.Dash(c.Text)))
		}
		for _, v := range r.Verdicts {
			cells = append(cells, document.Text(v.text()))
		}
		if m.Shares {
			cells = append(cells, document.Text(r.shareText()))
		}
		t.Add(append(cells, r.Cells...)...)
	}
	return t
}

func (r Row) shareText() string {
	if r.Trend != nil {
		return r.Trend.Text
	}
	var parts []string
	for _, s := range r.Shares {
		parts = append(parts, strings.TrimSpace(strings.Join(s.Codes, " ")+" "+s.Text()))
	}
	return textfmt.Dash(strings.Join(parts, "; "))
}
