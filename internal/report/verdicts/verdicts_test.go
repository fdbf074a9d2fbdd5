package verdicts_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/report/document"
	"github.com/lockstorm/lockstorm/internal/report/verdicts"
	"github.com/lockstorm/lockstorm/internal/runner"
)

const hostile = `</script><script>alert("x")</script><img src=x onerror=alert(1)>`

// signs are verdicts of all properties: of the first one as given, and otherwise that it holds.
func signs(first verdicts.Verdict) []verdicts.Verdict {
	all := make([]verdicts.Verdict, 0, len(checker.Properties()))
	for _, p := range checker.Properties() {
		all = append(all, verdicts.Verdict{Property: p, Found: checker.Holds, Expected: checker.Holds})
	}
	first.Property = checker.Lease
	all[0] = first
	return all
}

func matrix(rows ...verdicts.Row) verdicts.Matrix {
	return verdicts.Matrix{First: "row", Claimants: []string{"one", "other"}, Shares: true, Columns: document.Named("run"), Filters: true, Rows: rows}
}

func full(name string, first verdicts.Verdict) verdicts.Row {
	return verdicts.Row{
		Name: name, Link: "#row", Summary: "a summary", Claims: []verdicts.Claim{{Text: "safe", Source: "an article", URL: "https://example.org/"}, {}}, Verdicts: signs(first),
		Shares: []verdicts.Share{{Rate: runner.Rate{K: 94, N: 100}}}, Cells: []document.Cell{{Text: "seed 1", Link: "#witness"}},
	}
}

func parsed(t *testing.T, b document.Block) *html.Node {
	t.Helper()
	text, err := b.HTML()
	if err != nil {
		t.Fatal(err)
	}
	root, err := html.Parse(strings.NewReader(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	return root
}

// find returns the elements of a kind, with a class if one is given.
func find(root *html.Node, kind, class string) (all []*html.Node) {
	for n := range root.Descendants() {
		if n.Type == html.ElementNode && n.Data == kind && (class == "" || slices.Contains(strings.Fields(attribute(n, "class")), class)) {
			all = append(all, n)
		}
	}
	return all
}

func attribute(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

func textOf(n *html.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			b.WriteString(d.Data)
		}
	}
	return b.String()
}

// A matrix is a table: each cell has a head in its column and one in its row, and keeps its role
// where the page shows the rows as cards.
func TestMatrixIsATable(t *testing.T) {
	root := parsed(t, matrix(verdicts.Row{Heading: true, Name: "a topic"}, full("a", verdicts.Verdict{Found: checker.Violated, Expected: checker.Violated})))
	heads := find(root, "thead", "")[0]
	columns := find(heads, "th", "")
	for _, h := range columns {
		if attribute(h, "scope") != "col" || attribute(h, "role") != "columnheader" {
			t.Errorf("the head %q has scope %q, role %q", textOf(h), attribute(h, "scope"), attribute(h, "role"))
		}
	}
	rows := find(find(root, "tbody", "")[0], "tr", "")
	if scope := attribute(find(rows[0], "th", "")[0], "scope"); scope != "rowgroup" {
		t.Errorf("the head of a topic has the scope %q", scope)
	}
	if width := attribute(find(rows[0], "th", "")[0], "colspan"); width != "13" || len(columns) != 13 {
		t.Errorf("the head of a topic spans %s of %d columns", width, len(columns))
	}
	name := find(rows[1], "th", "name")
	if len(name) != 1 || attribute(name[0], "scope") != "row" {
		t.Error("a row has no head")
	}
	cells := find(rows[1], "td", "")
	if len(cells)+1 != len(columns) {
		t.Errorf("%d cells and a head for %d columns", len(cells), len(columns))
	}
	for _, c := range cells {
		if attribute(c, "role") != "cell" {
			t.Errorf("the cell %q has the role %q", textOf(c), attribute(c, "role"))
		}
	}
	if codes := find(heads, "abbr", ""); len(codes) != len(checker.Properties()) || attribute(codes[0], "title") != "lease exclusion" {
		t.Errorf("%d codes are explained", len(codes))
	}
}

// A sign has its meaning in words, and stands by itself: without colours nothing is lost.
func TestSigns(t *testing.T) {
	for _, c := range []struct {
		verdict    verdicts.Verdict
		sign, says string
	}{
		{verdicts.Verdict{Found: checker.Holds, Expected: checker.Holds}, "✓", "V1 lease exclusion: holds, as expected"},
		{verdicts.Verdict{Found: checker.Violated}, "✗", "V1 lease exclusion: violated"},
		{verdicts.Verdict{Found: checker.Violated, Expected: checker.Violated, Note: "3/14"}, "✗3/14", "V1 lease exclusion: violated, as expected (3/14)"},
		{verdicts.Verdict{Found: checker.Violated, Expected: checker.Holds}, "✗≠ ✓", "V1 lease exclusion: violated; expected: holds"},
		{verdicts.Verdict{Found: checker.Unknown, Expected: checker.Violated}, "?≠ ✗", "V1 lease exclusion: unknown; expected: violated"},
		{verdicts.Verdict{Found: checker.NotApplicable}, "–", "V1 lease exclusion: not applicable"},
		{verdicts.Verdict{Expected: checker.Holds}, "–", "V1 lease exclusion: not judged"},
	} {
		root := parsed(t, matrix(full("a", c.verdict)))
		tile := find(root, "span", "tile")[0]
		if got := textOf(tile); got != c.sign || attribute(tile, "aria-label") != c.says || attribute(tile, "role") != "img" {
			t.Errorf("%+v: %q, which says %q; want %q, %q", c.verdict, got, attribute(tile, "aria-label"), c.sign, c.says)
		}
		if marked := len(find(root, "td", "marked")) == 1; marked != strings.Contains(c.sign, "≠") {
			t.Errorf("%+v: marked is %v", c.verdict, marked)
		}
	}
}

// The bar of a share shows the share and its interval, and its text says the same.
func TestShares(t *testing.T) {
	for _, c := range []struct {
		rate              runner.Rate
		style, text, says string
	}{
		{runner.Rate{K: 94, N: 100}, "--low: 0.8752; --high: 0.9722; --at: 0.94", "94.0 % [87.5, 97.2]", "94 of 100 runs, 94.0 %, 95 % interval 87.5 to 97.2 %"},
		{runner.Rate{K: 0, N: 100}, "--low: 0; --high: 0.037; --at: 0", "0 % [0, 3.7]", "0 of 100 runs, 0 %, 95 % interval 0.0 to 3.7 %"},
	} {
		row := full("a", verdicts.Verdict{Found: checker.Violated})
		row.Shares = []verdicts.Share{{Rate: c.rate}}
		root := parsed(t, matrix(row))
		share, bar := find(root, "span", "share")[0], find(root, "span", "bar")[0]
		if text := strings.TrimSpace(textOf(share)); attribute(bar, "style") != c.style || text != c.text || attribute(share, "title") != c.says {
			t.Errorf("%v: %q, %q, %q", c.rate, attribute(bar, "style"), text, attribute(share, "title"))
		}
	}
	row := full("a", verdicts.Verdict{Found: checker.Violated})
	row.Trend = &verdicts.Trend{Text: "V1 ✗ up to 2", Link: "#s", Points: []verdicts.Point{{"1", runner.Rate{K: 3, N: 4}}, {"2", runner.Rate{K: 1, N: 4}}, {"3", runner.Rate{N: 4}}}}
	trend := find(parsed(t, matrix(row)), "span", "trend")[0]
	if says := attribute(trend, "aria-label"); says != "runs that violate: 75.0 % at 1, 25.0 % at 2, 0 % at 3" || len(find(trend, "i", "")) != 3 {
		t.Errorf("a trend says %q", says)
	}
}

func TestTextsAreEscaped(t *testing.T) {
	row := full(hostile, verdicts.Verdict{Found: checker.Violated, Note: hostile})
	row.Summary, row.Link, row.Claims = hostile, "javascript:"+hostile, []verdicts.Claim{{hostile, hostile, "javascript:" + hostile}, {Text: hostile, Source: hostile}}
	row.Cells = []document.Cell{{Text: hostile, Link: "javascript:" + hostile}}
	row.Shares[0].Codes = []string{hostile}
	trend := full(hostile, verdicts.Verdict{})
	trend.Trend = &verdicts.Trend{Text: hostile, Link: "javascript:" + hostile, Points: []verdicts.Point{{Value: hostile}}}
	m := matrix(verdicts.Row{Heading: true, Name: hostile, Link: "javascript:" + hostile, Summary: hostile}, row, trend)
	m.Caption, m.First, m.Claimants, m.Columns = hostile, hostile, []string{hostile, hostile}, []document.Column{{Name: hostile, Help: hostile}}
	text, err := m.HTML()
	if err != nil {
		t.Fatal(err)
	}
	if found := regexp.MustCompile(`<img|<script|href="javascript`).FindString(string(text)); found != "" {
		t.Errorf("a text is not escaped: %s", found)
	}
}

func TestMatrixOfAnotherWidthIsRefused(t *testing.T) {
	row := full("a", verdicts.Verdict{})
	row.Verdicts = row.Verdicts[1:]
	if _, err := matrix(row).HTML(); err == nil || !strings.Contains(err.Error(), "row a of a matrix has 2 claims, 7 verdicts") {
		t.Errorf("got %v", err)
	}
}

// As text a matrix, a strip and a legend have the same content.
func TestAsText(t *testing.T) {
	text := matrix(verdicts.Row{Heading: true, Name: "a topic"}, full("a", verdicts.Verdict{Found: checker.Violated, Expected: checker.Holds})).AsText(80)
	for _, part := range []string{"a topic", "safe", "✗≠✓", "94.0 % [87.5, 97.2]", "seed 1"} {
		if !strings.Contains(text, part) {
			t.Errorf("no %q in:\n%s", part, text)
		}
	}
	if got, want := verdicts.Strip(signs(verdicts.Verdict{Found: checker.Violated}))[:2].AsText(80), "V1 ✗  V2 ✓\n"; got != want {
		t.Errorf("a strip is %q; want %q", got, want)
	}
	if legend := (verdicts.Legend{}).AsText(80); !strings.Contains(legend, "✓ holds in every run;") || !strings.Contains(legend, "V1 lease exclusion") {
		t.Errorf("the legend is:\n%s", legend)
	}
}
