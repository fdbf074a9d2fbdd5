package sequence

import (
	"fmt"
	"html/template"
	"strings"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/report/document"
)

// Block is the diagram as a piece of a page: the drawing above the sentence of the
// finding, the same as text, and how to read it.
func (d Diagram) Block() document.Active { return block{d} }

type block struct{ d Diagram }

// HTML returns the drawing with what belongs to it.
func (b block) HTML() (template.HTML, error) {
	data := b.d.table()
	figure := document.Figure{SVG: b.d.draw(""), Caption: b.d.Caption(), Data: &data}
	drawing, err := figure.HTML()
	if err != nil {
		return "", err
	}
	key, err := document.Fold{Summary: "how to read the diagram", Blocks: []document.Block{legend}}.HTML()
	return drawing + key, err
}

// AsText returns the sentence and the messages as a table.
func (b block) AsText(width int) string {
	return document.Prose(b.d.Caption()).AsText(width) + "\n" + b.d.table().AsText(width)
}

// Assets returns how it looks.
func (b block) Assets() []document.Assets {
	return []document.Assets{{Name: "sequence", Style: style}}
}

// verdicts are how a sentence goes on after the title of a property.
var verdicts = map[checker.Verdict]string{
	checker.Violated: "is violated", checker.Holds: "holds", checker.Unknown: "is left open", checker.NotApplicable: "is not judged",
}

// Caption is the finding in a sentence, and what is left out of the run.
func (d Diagram) Caption() string {
	f := d.Finding
	text := fmt.Sprintf("%s %s: %s.", f.Property.Title(), verdicts[f.Verdict], strings.TrimSuffix(f.Story(), "."))
	for _, c := range d.Cuts {
		text += " Of the run " + c.words() + "."
	}
	return text
}
