// Package page makes an HTML page of a porcupine search: porcupine's drawing of the operations,
// with findings above it, named rows, and annotations.
//
//	drawn := page.Search(model, operations, limit)
//	err := drawn.Write(out, page.Head{Title: "register violated"}, []page.Mark{{Row: "nemesis", Text: "kill", ...}})
//
// All texts are escaped.
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
	"slices"
	"strings"
	"time"

	"github.com/anishathalye/porcupine"
)

// Operation is an operation that porcupine orders.
type Operation struct {
	porcupine.Operation // its ClientId is ignored

	// Row names the row. Operations of one name that overlap get further rows: "process 5",
	// "process 5 (2)".
	Row string
}

// Mark is an annotation below the operations.
type Mark struct {
	Row      string // name of the row; marks that overlap get further rows
	From, To int64  // on the clock of the operations; if they are equal, the mark is a point
	Text     string // of the box, clipped if it is too long
	Details  string // tooltip
	Colour   string // CSS colour of the box, "#ff9c9c"; "": grey

	// Look: the page opens with this mark in sight. The first such mark counts.
	Look bool
}

// Head is the text above the drawing.
type Head struct {
	Title string
	Found []Found
	Notes []string // a paragraph each
}

// Found is a finding.
type Found struct {
	Heading string
	Story   string
}

// Drawing is operations in their rows, and porcupine's result.
type Drawing struct {
	Result porcupine.CheckResult

	model porcupine.Model
	info  porcupine.LinearizationInfo
	names []string // of the rows of the operations
}

// Search lets porcupine search for an order of the operations, for at most limit. Rows are in
// the order of their first operation.
func Search(m porcupine.Model, operations []Operation, limit time.Duration) *Drawing {
	var r rows
	all := make([]porcupine.Operation, len(operations))
	for i, o := range operations {
		all[i] = o.Operation
		all[i].ClientId = r.assign(o.Row, interval{o.Call, o.Return}, true)
	}
	d := &Drawing{model: escaped(m), names: r.names}
	d.Result, d.info = porcupine.CheckOperationsVerbose(d.model, all, limit)
	if len(d.names) == 0 {
		d.names = []string{""} // porcupine reserves space for one
	}
	return d
}

// escaped is the model for porcupine's page, which treats the texts of states and operations as
// HTML.
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

// errTemplate reports that porcupine's page has an unknown form.
var errTemplate = errors.New("page: porcupine's page is another than it was")

// Write writes the page. Rows of marks are in the order of their first mark. It must be called
// once.
func (d *Drawing) Write(out io.Writer, h Head, marks []Mark) error {
	look := d.annotate(marks)
	var drawn, above bytes.Buffer
	if err := porcupine.Visualize(d.model, d.info, &drawn); err != nil {
		return err
	}
	if err := head.Execute(&above, h); err != nil {
		return err
	}
	facts, err := json.Marshal(map[string]any{"names": d.names, "texts": fullTexts(marks), "look": look}) // escapes HTML
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

// annotate places the marks in rows below the operations, and returns the index of the one to
// show first; -1: none.
func (d *Drawing) annotate(marks []Mark) (look int) {
	look = -1
	var r rows
	list := make([]porcupine.Annotation, len(marks))
	for i, m := range marks {
		row := r.assign(m.Row, interval{m.From, m.To}, false)
		list[i] = porcupine.Annotation{
			Tag:   fmt.Sprintf("%03d %s", row, r.names[row]), // porcupine sorts the rows by their tags
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

// boxText is the longest text for which porcupine widens a box.
const boxText = 64

func clip(text string) string {
	if runes := []rune(text); len(runes) > boxText {
		return string(runes[:boxText-1]) + "…"
	}
	return text
}

// fullTexts returns the texts that were clipped, by index: a box may be wide enough for them
// anyway.
func fullTexts(marks []Mark) map[int]string {
	all := map[int]string{}
	for i, m := range marks {
		if clip(m.Text) != m.Text {
			all[i] = m.Text
		}
	}
	return all
}

// rows places intervals in rows without overlaps. An interval that overlaps another of its name
// gets a further row.
type rows struct {
	names []string
	busy  [][]interval
}

type interval struct{ from, to int64 }

// assign returns the row, from 0, for an interval. closed: intervals that touch overlap.
func (r *rows) assign(name string, v interval, closed bool) int {
	title := name
	for again := 2; ; again++ {
		i := r.find(title)
		if !r.taken(i, v, closed) {
			r.busy[i] = append(r.busy[i], v)
			return i
		}
		title = fmt.Sprintf("%s (%d)", name, again)
	}
}

func (r *rows) find(title string) int {
	if i := slices.Index(r.names, title); i >= 0 {
		return i
	}
	r.names, r.busy = append(r.names, title), append(r.busy, nil)
	return len(r.names) - 1
}

func (r *rows) taken(row int, v interval, closed bool) bool {
	for _, b := range r.busy[row] {
		switch {
		case v.from > b.to || b.from > v.to:
		case closed || v == b || v.from < b.to && b.from < v.to:
			return true
		case v.from == v.to && (v.from == b.from || v.from == b.to), b.from == b.to && (b.from == v.from || b.from == v.to):
			return true // a point is drawn with a width
		}
	}
	return false
}
