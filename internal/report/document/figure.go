package document

import (
	"html/template"
	"regexp"
)

// Figure is a drawing with what it shows in words and, folded, as a table.
type Figure struct {
	ID      string // its anchor; may be empty
	SVG     []byte // the drawing, which is trusted: texts in it are escaped already
	Caption string
	Data    *Table // nil: the caption says it all

	Needs []Assets // what the drawing does not look right without
}

// prologue is what stands before an SVG that is a file of its own.
var prologue = regexp.MustCompile(`(?s)^.*?(<svg)`)

// Assets returns what the drawing needs.
func (f Figure) Assets() []Assets { return f.Needs }

// HTML returns the figure.
func (f Figure) HTML() (template.HTML, error) {
	var data template.HTML
	if f.Data != nil {
		var err error
		if data, err = (Fold{Summary: "as a table", Blocks: []Block{*f.Data}}).HTML(); err != nil {
			return "", err
		}
	}
	return render("figure", struct {
		ID, Caption   string
		Drawing, Data template.HTML
	}{f.ID, f.Caption, template.HTML(prologue.ReplaceAll(f.SVG, []byte("$1"))), data})
}
