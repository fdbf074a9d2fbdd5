package sequence

import (
	"fmt"
	"hash/fnv"
	"html/template"
	"strings"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/show/document"
)

// Block returns the diagram as a block of a page, with its caption, the same as a table, and a
// legend.
func (d Diagram) Block() document.Active { return block{d} }

type block struct{ d Diagram }

// HTML returns the drawing, the table and the legend.
func (b block) HTML() (template.HTML, error) {
	data := b.d.table()
	id := b.d.id()
	figure := document.Figure{SVG: append(b.d.draw(id), b.d.strips(id)...), Caption: b.d.Caption(), Data: &data}
	figure.Head, figure.Width = b.d.head()
	drawing, err := figure.HTML()
	if err != nil {
		return "", err
	}
	key, err := document.Fold{Summary: "how to read the diagram", Blocks: []document.Block{legend}}.HTML()
	return drawing + key, err
}

// id tells the drawings of a page apart.
func (d Diagram) id() string {
	h := fnv.New64a()
	_, _ = fmt.Fprint(h, d.Messages, d.Events, d.Spans)
	return fmt.Sprintf("%ssequence-%016x", d.Anchor, h.Sum64())
}

// AsText returns the caption and the table.
func (b block) AsText(width int) string {
	return document.Prose(b.d.Caption()).AsText(width) + "\n" + b.d.table().AsText(width)
}

// Assets returns the style sheet.
func (b block) Assets() []document.Assets {
	return []document.Assets{{Name: "sequence", Style: style}}
}

// verdictTexts follow the title of a property in a sentence.
var verdictTexts = map[checker.Verdict]string{
	checker.Violated: "is violated", checker.Holds: "holds", checker.Unknown: "is undecided", checker.NotApplicable: "is not checked",
}

// Caption says what was found, and what is left out.
func (d Diagram) Caption() string {
	f := d.Finding
	text := fmt.Sprintf("%s %s: %s.", f.Property.Title(), verdictTexts[f.Verdict], strings.TrimSuffix(f.Story(), "."))
	for _, c := range d.Omissions {
		text += " Of the run " + c.text() + "."
	}
	return text
}

// legend explains the shapes.
var legend = document.Facts{
	{Name: "time", Value: "runs downwards, in ms since the run began, not to scale: ⋯ is a time without events"},
	{Name: "c1-2", Value: "is the second try of client 1: the token that it sets on nodes, and the hold that it acquires"},
	{Name: "arrow", Value: "a message; a dashed one is a reply. Equal requests of a round are labelled once, at the client"},
	{Name: "ring", Value: "an end of a message whose time is unknown: the slant means nothing there"},
	{Name: "✗ at an arrow", Value: "the message was lost; beside it the fault that may be the cause"},
	{Name: "bar of a client", Value: "filled: it holds the lock within its validity; hatched: it works on past its validity; grey and cross-hatched: it is paused"},
	{Name: "bar of a node", Value: "it keeps a key, in the colour of the client that set it"},
	{Name: "✗ on a lifeline", Value: "the client is dead, or the node is down until its lifeline continues"},
	{Name: "frame across lifelines", Value: "two clients hold the lock, from the grant of the second to the end of the first hold"},
	{Name: "line beside the times", Value: "another place of the finding"},
}

// table is the run as a table, a row for each line of the trace.
func (d Diagram) table() document.Table {
	t := document.Table{Columns: document.Named("ms", "who", "what")}
	cuts := d.Omissions
	for _, l := range d.Lines {
		for len(cuts) > 0 && cuts[0].After < l.At.Order {
			t.Head(cuts[0].text())
			cuts = cuts[1:]
		}
		t.Add(document.Number(float64(l.At.At), inMs(l.At.At)), document.Text(l.Who), document.Text(l.What))
	}
	for _, c := range cuts {
		t.Head(c.text())
	}
	return t
}
