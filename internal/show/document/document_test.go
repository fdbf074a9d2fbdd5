package document_test

import (
	"html/template"
	"regexp"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/internal/show/document"
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

func TestTableOfAnotherWidthIsRefused(t *testing.T) {
	table := document.Table{Columns: document.Named("a", "b")}
	table.Add(document.Count(1))
	var d document.Document
	d.Add("x", table)
	if err := d.Write(&strings.Builder{}); err == nil {
		t.Error("a row of one cell in a table of two columns is written")
	}
}
