package page_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/lockstorm/lockstorm/internal/page"
)

const script, image = "<script>alert(1)</script></body>", `<img src=x onerror="alert(2)">`

// free accepts every operation.
var free = porcupine.Model{
	Init:              func() any { return script },
	Step:              func(state, _, _ any) (bool, any) { return true, state },
	DescribeOperation: func(in, _ any) string { return fmt.Sprint(in) },
}

func draw(t *testing.T, head page.Head, operations []page.Operation, marks []page.Mark) string {
	t.Helper()
	var b bytes.Buffer
	if err := page.Search(free, operations, time.Second).Write(&b, head, marks); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// drawn is the data of porcupine's script and ours.
type drawn struct {
	Partitions  []struct{ History []struct{ ClientId int } }
	Annotations []struct{ Tag, Description string }
	Names       []string
	Texts       map[string]string
	Look        int
}

func read(t *testing.T, text string) drawn {
	t.Helper()
	var d drawn
	for _, find := range []string{`(?m)^\s*const data = (\{.*\})$`, `(?m)^\s*const facts = (\{.*\})$`} {
		found := regexp.MustCompile(find).FindAllStringSubmatch(text, -1)
		if len(found) != 1 {
			t.Fatalf("%d of %s in the page", len(found), find)
		}
		if err := json.Unmarshal([]byte(found[0][1]), &d); err != nil {
			t.Fatal(err)
		}
	}
	return d
}

func operation(row string, from, to int64) page.Operation {
	return page.Operation{Row: row, Operation: porcupine.Operation{ClientId: 99, Input: row, Call: from, Return: to, Metadata: image}}
}

// Rows have the names and the order of the caller. What overlaps has rows of its own.
func TestRowNames(t *testing.T) {
	d := read(t, draw(t, page.Head{}, []page.Operation{
		operation("process 10", 0, 4), operation("process 5", 1, 2), operation("process 10", 4, 5), operation("process 5", 3, 6),
	}, []page.Mark{
		{Row: "nemesis", From: 1, To: 3}, {Row: "a later row", From: 2, To: 2}, {Row: "nemesis", From: 2, To: 5}, {Row: "nemesis", From: 3, To: 4},
	}))
	want := []string{"process 10", "process 5", "process 10 (2)", "nemesis", "a later row", "nemesis (2)"}
	if !slices.Equal(d.Names, want) {
		t.Errorf("rows %q, want %q", d.Names, want)
	}
	tags := map[string]bool{} // porcupine draws these below the operations, sorted
	for _, a := range d.Annotations {
		tags[a.Tag] = true
	}
	operations, sorted := 0, []string{}
	for tag := range tags {
		sorted = append(sorted, tag)
	}
	for _, p := range d.Partitions {
		for _, o := range p.History {
			operations = max(operations, o.ClientId+1)
		}
	}
	slices.Sort(sorted)
	for i, tag := range sorted {
		if !strings.HasSuffix(tag, " "+want[operations+i]) {
			t.Errorf("the row %d is drawn as %q and called %q", operations+i, tag, want[operations+i])
		}
	}
	if nothing := read(t, draw(t, page.Head{}, nil, []page.Mark{{Row: "nemesis"}})); !slices.Equal(nothing.Names, []string{"", "nemesis"}) {
		t.Errorf("rows of nothing: %q", nothing.Names) // porcupine draws one row
	}
}

// Texts are escaped.
func TestTextsAreEscaped(t *testing.T) {
	text := draw(t, page.Head{Title: script, Found: []page.Found{{Heading: image, Story: script}}, Notes: []string{script}},
		[]page.Operation{operation(script, 0, 1)}, []page.Mark{{Row: image, Text: script + image + script, Details: image}})
	if strings.Contains(text, "alert(1)<") || strings.Contains(text, "<img") || strings.Count(text, "</body>") != 1 || strings.Count(text, "<script>") != 2 {
		t.Error("the page does not escape a text")
	}
	// Porcupine's script treats these two as HTML.
	var data struct {
		Partitions []struct {
			History               []struct{ Metadata string }
			PartialLinearizations [][]struct{ StateDescription string }
		}
	}
	found := regexp.MustCompile(`(?m)^\s*const data = (\{.*\})$`).FindStringSubmatch(text)
	if err := json.Unmarshal([]byte(found[1]), &data); err != nil {
		t.Fatal(err)
	}
	p := data.Partitions[0]
	for _, html := range []string{p.History[0].Metadata, p.PartialLinearizations[0][0].StateDescription} {
		if html == "" || strings.ContainsAny(html, "<>") {
			t.Errorf("%q is not escaped", html)
		}
	}
}

// The page opens at the first mark with Look, and has the full text of a clipped one.
func TestMarks(t *testing.T) {
	long := strings.Repeat("é", 100)
	d := read(t, draw(t, page.Head{}, nil, []page.Mark{{Row: "a", Text: "short"}, {Row: "b", Text: long, Look: true}, {Row: "c", Look: true}}))
	if d.Look != 1 {
		t.Errorf("it opens on %d", d.Look)
	}
	if len(d.Texts) != 1 || d.Texts["1"] != long || d.Annotations[1].Description != strings.Repeat("é", 63)+"…" {
		t.Errorf("texts %q, in the box %q", d.Texts, d.Annotations[1].Description)
	}
	if d := read(t, draw(t, page.Head{}, nil, []page.Mark{{Row: "a"}})); d.Look != -1 {
		t.Errorf("it opens on %d, without a mark with Look", d.Look)
	}
}
