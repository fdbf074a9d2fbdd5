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

// legend says what the shapes mean.
var legend = document.Facts{
	{Name: "time", Value: "goes downwards, in ms since the begin of the run, and is not to scale: ⋯ is a time in which nothing happens"},
	{Name: "c1-2", Value: "is the second try of client 1, the token that it sets on nodes, and the hold that it gets by it"},
	{Name: "arrow", Value: "a message; a dashed one is a reply. Requests of a round that ask the same are written once, at the client"},
	{Name: "ring", Value: "an end of a message of which nobody has told when it was: the slant says nothing there"},
	{Name: "✗ at an arrow", Value: "nobody has heard that it came; behind it the fault that may be why"},
	{Name: "bar of a client", Value: "filled: it holds and its validity lasts; hatched: its validity is over and it has not been told; grey and cross-hatched: it stands still"},
	{Name: "bar of a node", Value: "it keeps a key, in the colour of the client whose key it is"},
	{Name: "✗ on a lifeline", Value: "the client is dead, or the node is down until its lifeline goes on"},
	{Name: "frame across lifelines", Value: "two hold at once, from the grant of the second to the end of the first"},
	{Name: "line beside the times", Value: "where else the finding points to"},
}

// table is the run as text.
func (d Diagram) table() document.Table {
	t := document.Table{Columns: document.Named("ms", "who", "what")}
	cuts := d.Cuts
	for _, l := range d.Lines {
		for len(cuts) > 0 && cuts[0].After < l.At.Order {
			t.Head(cuts[0].words())
			cuts = cuts[1:]
		}
		t.Add(document.Number(float64(l.At.At), inMs(l.At.At)), document.Text(l.Who), document.Text(l.What))
	}
	for _, c := range cuts {
		t.Head(c.words())
	}
	return t
}

// String tells the model in lines of text: what is drawn, without where.
func (d Diagram) String() string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	name := func(i int) string { return d.Participants[i].Name }
	for _, p := range d.Participants {
		line("lifeline %s", p.Name)
	}
	for _, m := range d.Messages {
		line("message %s → %s: %s", d.end(m.From, m.Sent, m.SentKnown), d.end(m.To, m.Came, m.CameKnown), m.fate())
	}
	for _, e := range d.Events {
		line("%s %v %s: %s", e.Mood, inMs(e.At.At), name(e.Who), e.Text)
	}
	for _, s := range d.Spans {
		open := ""
		if s.Open {
			open = " and on"
		}
		line("%s %s–%s%s %s: %s", s.State, inMs(s.From.At), inMs(s.To.At), open, name(s.Who), s.Text)
	}
	if o := d.Overlap; o != nil {
		line("overlap %s–%s %s and %s", inMs(o.From.At), inMs(o.To.At), name(o.First), name(o.Second))
	}
	for _, c := range d.Cuts {
		line("cut: %s", c.words())
	}
	return b.String()
}

// end tells one end of a message.
func (d Diagram) end(who int, at Point, known bool) string {
	if !known {
		return d.Participants[who].Name
	}
	return inMs(at.At) + " " + d.Participants[who].Name
}

// fate tells what a message says, and what has become of it.
func (m Message) fate() string {
	text := m.Text
	if m.Lost {
		text = strings.TrimSpace(text + " ✗ " + fault(m.Fault))
	}
	return text
}
