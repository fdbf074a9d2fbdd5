package counterexample

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/page"
)

// Picture is what one page shows.
type Picture struct {
	// Name is unique among the pictures of a history: the first property of the picture, or
	// [Cut].
	Name string

	// Findings has at least one finding. The first one determines the place.
	Findings []checker.Finding

	cut   string             // why the history is truncated, if the picture is about that
	clock history.UntilClock // by which the history was judged
}

// Cut is the name of the picture of the end of a truncated history, for all that is unknown for
// that reason.
const Cut = "cut"

// Of returns the pictures of a report: one for each violated or undecided property, and one of
// the end if the history is truncated. Section exclusion shares the picture of lease exclusion
// if the same overlap of the same two grants violates both.
func Of(r checker.Report) []Picture {
	var all []Picture
	cut := Picture{Name: Cut, cut: r.Cut}
	for _, f := range r.Findings {
		switch {
		case f.Verdict == checker.Unknown && r.Cut != "":
			cut.Findings = append(cut.Findings, f)
		case f.Verdict == checker.Violated && len(all) > 0 && same(f, all[len(all)-1].Findings[0]):
			last := &all[len(all)-1]
			last.Findings = append(last.Findings, f)
		case f.Verdict == checker.Violated, f.Verdict == checker.Unknown:
			all = append(all, Picture{Name: f.Property.String(), Findings: []checker.Finding{f}})
		}
	}
	if len(cut.Findings) > 0 {
		all = append(all, cut)
	}
	for i := range all {
		all[i].clock = r.UntilClock
	}
	return all
}

// same reports whether both findings have the same two grants and the same place.
func same(a, b checker.Finding) bool {
	return a.First != nil && reflect.DeepEqual(a.First, b.First) && reflect.DeepEqual(a.Where, b.Where)
}

// Properties returns the properties of the picture.
func (p Picture) Properties() []checker.Property {
	all := make([]checker.Property, len(p.Findings))
	for i, f := range p.Findings {
		all[i] = f.Property
	}
	return all
}

// shownProperty is the property whose specification is drawn. The end of a truncated history shows
// leases.
func (p Picture) shownProperty() checker.Property {
	switch {
	case p.cut != "":
		return checker.Lease
	case slices.Contains([]checker.Property{checker.Section, checker.Effect, checker.Fence}, p.Findings[0].Property):
		return p.Findings[0].Property
	}
	return checker.Lease
}

// searchLimit is the longest that porcupine may search.
const searchLimit = 5 * time.Second

// Page draws the picture. open opens the history, uncompressed, at its beginning. If the
// history is broken, the page shows the part before the error.
func (p Picture) Page(open func() (io.ReadCloser, error)) ([]byte, error) {
	e, err := p.excerpt(open)
	if err != nil {
		return nil, err
	}
	d := e.draw()
	drawn := page.Search(d.model, d.operations, searchLimit)
	var out bytes.Buffer
	err = drawn.Write(&out, p.head(e, d, drawn.Result), d.marks)
	return out.Bytes(), err
}

// drawing is what the page draws.
type drawing struct {
	model      porcupine.Model
	operations []page.Operation
	marks      []page.Mark
	clients    map[int]bool // that are shown
	from, to   history.Time
	left       []string // what is not shown
	legend     string   // further explanation
}

// draw makes operations and marks of an excerpt.
func (e *excerpt) draw() *drawing {
	d := &drawing{from: e.place.From, to: e.place.To, clients: map[int]bool{e.place.Client: true, 0: true}}
	var shown []operation
	if e.property == checker.Effect {
		shown = e.accessOperations(d)
	} else {
		shown = e.holdOperations(d)
	}
	d.model.DescribeOperationMetadata = func(text any) string { return text.(string) }
	d.addOperations(shown)
	d.addMarks(e)
	d.noteSkippedSpans(e.spans)
	return d
}

// operation is an operation of a client.
type operation struct {
	porcupine.Operation
	client int
}

func (d *drawing) include(from, to history.Time) {
	d.from, d.to = min(d.from, from), max(d.to, to)
}

// addOperations sorts operations by client and gives each client a row.
func (d *drawing) addOperations(list []operation) {
	slices.SortStableFunc(list, func(a, b operation) int {
		return cmp.Or(cmp.Compare(a.client, b.client), cmp.Compare(a.Call, b.Call))
	})
	for _, o := range list {
		d.clients[o.client] = true
		d.operations = append(d.operations, page.Operation{Operation: o.Operation, Row: fmt.Sprintf("client %d", o.client)})
	}
}

// addMarks adds the marks: first the place and the times, then the annotations row by row.
func (d *drawing) addMarks(e *excerpt) {
	beside := d.annotations(e)
	slices.SortStableFunc(beside, func(a, b span) int {
		return cmp.Or(inOrder(a.row, b.row), cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to))
	})
	place := e.violation()
	all := append([]span{place}, d.timeMarks(append([]span{place}, beside...))...)
	for i, s := range append(all, beside...) {
		d.marks = append(d.marks, page.Mark{
			Row: s.row, From: int64(max(s.from, d.from)), To: int64(min(s.to, d.to)),
			Text: s.text, Details: s.tooltip(), Colour: s.colour, Look: i == 0,
		})
	}
}

// annotations returns what is shown beside the operations.
func (d *drawing) annotations(e *excerpt) []span {
	all := e.windowSpans(d)
	for _, s := range slices.Concat(e.spans.accused.all(), e.spans.lock.all()) {
		d.clients[s.client] = true
	}
	world := e.spans.world.all()
	for _, s := range slices.Concat(e.spans.accused.all(), e.spans.lock.all(), e.spans.work.all(), world) {
		if s.to >= d.from && s.from <= d.to && d.clients[s.client] && !isFaultEffect(s, world) {
			all = append(all, s)
		}
	}
	return all
}

// isFaultEffect reports whether a cut link is the same as a fault that is shown.
func isFaultEffect(s span, world []span) bool {
	return s.kind == history.LinkDown && slices.ContainsFunc(world, func(f span) bool {
		return f.kind == history.FaultStart && f.from == s.from && f.to == s.to
	})
}

// noteSkippedSpans notes how many annotations were dropped.
func (d *drawing) noteSkippedSpans(s *spans) {
	for _, of := range []struct {
		kept  []*nearby[span]
		thing string
	}{{[]*nearby[span]{&s.world}, "fault"}, {[]*nearby[span]{&s.lock, &s.accused}, "call"}, {[]*nearby[span]{&s.work}, "access"}} {
		n := 0
		for _, k := range of.kept {
			n += k.dropped()
		}
		if n > 0 {
			d.left = append(d.left, count(n, "", of.thing))
		}
	}
}

// inOrder compares the names of rows, with numbers by value.
func inOrder(a, b string) int {
	return slices.CompareFunc(strings.Fields(a), strings.Fields(b), func(a, b string) int {
		if number(a) && number(b) {
			return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b))
		}
		return strings.Compare(a, b)
	})
}

func number(text string) bool { return strings.Trim(text, "0123456789") == "" }

// violation marks the place of the finding.
func (e *excerpt) violation() span {
	f := e.first
	s := span{row: f.Property.Title(), colour: red, from: e.place.From, to: e.place.To, details: f.Story()}
	switch {
	case e.cut:
		return span{row: "cut short", text: "the history ends", colour: red, from: e.place.From, to: e.place.To}
	case e.both:
		s.row = "exclusion"
	}
	s.text = fmt.Sprintf("%s %v", strings.Join(e.codes, ", "), f.Verdict)
	switch {
	case f.First != nil:
		s.text += fmt.Sprintf(": clients %d and %d", f.First.First.Client, f.First.Second.Client)
	case e.place.Client != 0:
		s.text += fmt.Sprintf(": client %d", e.place.Client)
	}
	return s
}

func (s span) tooltip() string {
	when := "at " + at(s.from)
	if s.to > s.from {
		when = fmt.Sprintf("%s to %s, %v", at(s.from), at(s.to), s.to.Sub(s.from))
	}
	return strings.TrimPrefix(strings.Join([]string{s.text, when, s.details}, " · "), " · ")
}
