package document_test

import (
	"html/template"
	"regexp"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/internal/report/document"
)

const hostile = `</script><script>alert("x")</script><img src=x onerror=alert(1)>`

func written(t *testing.T, d document.Document) string {
	t.Helper()
	var out strings.Builder
	if err := d.Write(&out); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// lively is a block with assets.
type lively struct{}

func (lively) HTML() (template.HTML, error) { return `<i class="lively"></i>`, nil }
func (lively) Assets() []document.Assets {
	return []document.Assets{{Name: "lively", Style: ".lively { color: red; }", Script: "console.log(1 < 2);\n"}}
}

func TestTextsAreEscaped(t *testing.T) {
	table := document.Table{Caption: hostile, Columns: []document.Column{{Name: hostile, Help: hostile}}}
	table.Head(hostile)
	table.Add(document.Cell{Text: hostile, Link: "javascript:" + hostile})
	d := document.Document{Title: hostile, Lead: hostile, Foot: []string{hostile}}
	d.Add(hostile, document.Prose(hostile), document.Heading(hostile), document.Code(hostile), document.Notice{Mark: document.Bad, Text: hostile},
		document.Facts{{Name: hostile, Value: hostile}}, document.Fold{Summary: hostile, Blocks: []document.Block{table}},
		document.Figure{SVG: []byte("<?xml?><svg></svg>"), Caption: hostile, Data: &table})
	page := written(t, d)
	if strings.Contains(page, "<img") || strings.Contains(page, `alert("x")</script>`) || strings.Contains(page, `href="javascript`) {
		t.Errorf("a text is not escaped:\n%s", page)
	}
	if n := strings.Count(page, "<script>"); n != 1 {
		t.Errorf("%d scripts; want the page's own", n)
	}
}

func TestPageIsSelfContained(t *testing.T) {
	d := document.Document{Title: "a"}
	d.Add("b", lively{}, document.Fold{Summary: "c", Blocks: []document.Block{lively{}}})
	page := written(t, d)
	if found := regexp.MustCompile(`(?i)(src|href)="?(https?:)?//|@import|url\(`).FindString(page); found != "" {
		t.Errorf("the page fetches %q", found)
	}
	if n := strings.Count(page, ".lively {"); n != 1 {
		t.Errorf("the style of a kind of blocks is there %d times", n)
	}
	if n := strings.Count(page, "sha256-"); n != strings.Count(page, "<script>") {
		t.Errorf("the policy allows %d scripts, the page has %d", n, strings.Count(page, "<script>"))
	}
}

func TestAnchorsDiffer(t *testing.T) {
	var d document.Document
	for range 3 {
		d.Add("The run, seed 1")
	}
	seen := map[string]bool{}
	for _, s := range d.Sections {
		if seen[s.ID] {
			t.Errorf("anchor %s is there twice", s.ID)
		}
		seen[s.ID] = true
	}
}

func TestTableOfAnotherWidthIsRefused(t *testing.T) {
	table := document.Table{Columns: document.Named("a", "b")}
	table.Add(document.Count(1))
	var d document.Document
	d.Add("x", table)
	if err := d.Write(&strings.Builder{}); err == nil {
		t.Error("a row of one cell in a table of two columns is written")
	}
}

// The text has the content of the page, in its order.
func TestTextHasTheContentOfThePage(t *testing.T) {
	table := document.Table{Caption: "caption", Columns: document.Named("name", "number")}
	table.Head("heading")
	table.Add(document.Text("a\tb"), document.Count(7))
	d := document.Document{Title: "title", Lead: "lead", Foot: []string{"foot"}}
	d.Add("section", document.Heading("part"), document.Code("one\ntwo"), document.Notice{Text: "notice"}, document.Facts{{Name: "fact", Value: "value"}},
		document.Fold{ID: "fold", Summary: "summary", Blocks: []document.Block{document.Figure{Caption: "figure", Data: &table}}}, lively{})
	var out strings.Builder
	if err := d.WriteText(&out, 40); err != nil {
		t.Fatal(err)
	}
	rest := out.String()
	for _, part := range []string{"title\n=====", "lead", "section\n-------", "part", "    one\n    two", "notice", "fact: value", "summary", "figure", "caption", "NAME     NUMBER\n\nheading\na b      7\n", "(drawn on the page alone)", "foot"} {
		_, after, found := strings.Cut(rest, part)
		if !found {
			t.Fatalf("no %q, or at another place, in:\n%s", part, out.String())
		}
		rest = after
	}
	if page := written(t, d); !strings.Contains(page, `<details id="fold">`) {
		t.Error("a fold has no anchor")
	}
}

// A word that is too long for a line is cut, except in lines of code.
func TestLongWords(t *testing.T) {
	long := strings.Repeat("m", 5_000)
	table := document.Table{Caption: long, Columns: document.Named(long), Filters: true}
	table.Add(document.Text(long))
	table.Head(long)
	d := document.Document{Title: long, Lead: long, Foot: []string{long}}
	d.Add(long, document.Prose("a "+long+" b"), document.Heading(long), document.Notice{Text: long}, document.Facts{{Name: long, Value: long}}, document.Fold{Summary: long}, table,
		document.Figure{Caption: long})
	var b strings.Builder
	if err := d.Write(&b); err != nil {
		t.Fatal(err)
	}
	var visible string
	for l := range strings.Lines(b.String()) {
		if n := strings.Count(l, "m"); n > 1_000 {
			visible = l[:200]
		}
	}
	if visible != "" {
		t.Errorf("a name is shown in full: %s…", visible)
	}
	if !strings.Contains(b.String(), "<p>a mmm") || !strings.Contains(b.String(), "mmm b</p>") {
		t.Error("words beside a long one are missing")
	}
}
