package document

import (
	"html/template"
	"regexp"
)

// Figure is a drawing with a caption and, folded, its data as a table.
type Figure struct {
	ID      string // anchor; may be empty
	SVG     []byte // trusted: its texts are escaped
	Caption string
	Data    *Table // nil: the caption says it all

	Needs []Assets // assets of the drawing
}

// prologue matches what precedes the element in a standalone SVG.
var prologue = regexp.MustCompile(`(?s)^.*?(<svg)`)

// Assets returns the assets of the drawing.
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
