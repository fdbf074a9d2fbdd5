// Package page makes a page of HTML of operations that porcupine has tried to order: its
// drawing, with what was found above it, rows that have names, and marks of what else
// went on. It knows nothing of what the operations are.
//
//	drawn := page.Search(model, operations, limit)
//	err := drawn.Write(out, page.Head{Title: "register violated"}, []page.Mark{{Row: "nemesis", Text: "kill", ...}})
//
// All texts are plain: whatever a history says is shown and not run.
package page

import (
	"bytes"
	_ "embed" // for the head and the script of the page
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"html/template"
	"io"
	"strings"
	"time"

	"github.com/anishathalye/porcupine"
)

// Operation is one of those that porcupine orders.
type Operation struct {
	porcupine.Operation // its ClientId is of no account: the row says whose it is

	// Row is what its row is called. Operations of one name that overlap get a further
	// row: "process 5", "process 5 (2)".
	Row string
}

// Mark is something that is shown below the operations.
type Mark struct {
	Row      string // what its row is called; marks that overlap get further rows
	From, To int64  // on the clock of the operations; the same: it is a point
	Text     string // in the box, cut short where the box has no room for it
	Details  string // what is said when one points at it
	Colour   string // of the box, as CSS has it, "#ff9c9c"; empty: grey

	// Look says that the page opens with this in sight. Of several the first counts.
	Look bool
}

// Head is what stands above the drawing.
type Head struct {
	Title string
	Found []Found
	Notes []string // a paragraph each
}

// Found is one of the things that the page is about.
type Found struct {
	Heading string
	Story   string
}

// Drawing is operations in their rows, and what porcupine makes of them.
type Drawing struct {
	Result porcupine.CheckResult

	model porcupine.Model
	info  porcupine.LinearizationInfo
	names []string // of the rows of the operations
}

// Search lets porcupine look for an order of the operations, for no longer than limit.
// Rows come in the order in which the operations name them first.
func Search(m porcupine.Model, operations []Operation, limit time.Duration) *Drawing {
	var r rows
	all := make([]porcupine.Operation, len(operations))
	for i, o := range operations {
		all[i] = o.Operation
		all[i].ClientId = r.place(o.Row, interval{o.Call, o.Return}, true)
	}
	d := &Drawing{model: escaped(m), names: r.names}
	d.Result, d.info = porcupine.CheckOperationsVerbose(d.model, all, limit)
	if len(d.names) == 0 {
		d.names = []string{""} // porcupine leaves room for one
	}
	return d
}

// escaped is the model for porcupine's page, which takes what is said of states and
// operations for HTML.
func escaped(m porcupine.Model) porcupine.Model {
	escape := func(describe func(any) string) func(any) string {
		return func(v any) string {
			switch {
			case describe != nil:
				return html.EscapeString(describe(v))
			case v == nil:
				return ""
			}
			return html.EscapeString(fmt.Sprint(v))
		}
	}
	m.DescribeState = escape(m.DescribeState)
	m.DescribeOperationMetadata = escape(m.DescribeOperationMetadata)
	return m
}

var (
	//go:embed head.html
	headText string
	head     = template.Must(template.New("head").Parse(headText))

	//go:embed page.js
	script string
)

// errTemplate says that porcupine's page is not of the form that is known.
var errTemplate = errors.New("page: porcupine's page is another than it was")

// Write writes the page. Rows of marks come in the order in which the marks name them
// first. It is called once.
func (d *Drawing) Write(out io.Writer, h Head, marks []Mark) error {
	look := d.annotate(marks)
	var drawn, above bytes.Buffer
	if err := porcupine.Visualize(d.model, d.info, &drawn); err != nil {
		return err
	}
	if err := head.Execute(&above, h); err != nil {
		return err
	}
	facts, err := json.Marshal(map[string]any{"names": d.names, "texts": fullTexts(marks), "look": look}) // escapes what HTML would read
	if err != nil {
		return err
	}
	page := drawn.String()
	for _, part := range []struct{ mark, with string }{
		{"<title>Porcupine</title>", "<title>" + template.HTMLEscapeString(h.Title) + "</title>"},
		{"<body>", "<body>\n" + above.String()},
		{"</body>", fmt.Sprintf("<script>\n  const facts = %s\n%s</script>\n</body>", facts, script)},
	} {
		if strings.Count(page, part.mark) != 1 {
			return errTemplate
		}
		page = strings.Replace(page, part.mark, part.with, 1)
	}
	_, err = io.WriteString(out, page)
	return err
}

// annotate lays the marks into rows below the operations, and returns which of them is to
// be in sight; -1: none.
func (d *Drawing) annotate(marks []Mark) (look int) {
	look = -1
	var r rows
	list := make([]porcupine.Annotation, len(marks))
	for i, m := range marks {
		row := r.place(m.Row, interval{m.From, m.To}, false)
		list[i] = porcupine.Annotation{
			Tag:   fmt.Sprintf("%03d %s", row, r.names[row]), // porcupine sorts the rows by their text
			Start: m.From, End: m.To, Description: clip(m.Text), Details: m.Details, BackgroundColor: m.Colour,
		}
		if m.Look && look < 0 {
			look = i
		}
	}
	d.info.AddAnnotations(list)
	d.names = append(d.names, r.names...)
	return look
}

// boxText is how long a text may be for which porcupine has to make a box wider.
const boxText = 64

func clip(text string) string {
	if runes := []rune(text); len(runes) > boxText {
		return string(runes[:boxText-1]) + "…"
	}
	return text
}

// fullTexts are those that were clipped, by the places of their marks: a box may be wide
// enough for them for other reasons.
func fullTexts(marks []Mark) map[int]string {
	all := map[int]string{}
	for i, m := range marks {
		if clip(m.Text) != m.Text {
			all[i] = m.Text
		}
	}
	return all
}
