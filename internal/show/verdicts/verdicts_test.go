package verdicts_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/show/document"
	"github.com/lockstorm/lockstorm/internal/show/summary"
	"github.com/lockstorm/lockstorm/internal/show/verdicts"
	"github.com/lockstorm/lockstorm/internal/testkit"
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
		Shares: []summary.Share{{Rate: runner.Rate{K: 94, N: 100}}}, Cells: []document.Cell{{Text: "seed 1", Link: "#witness"}},
	}
}

// A matrix is a table whose heads and roles stay where the page shows its rows as cards. A sign has its
// meaning in words, a share its interval, and the text has the same content.
func TestGoldenMatrix(t *testing.T) {
	rows := []verdicts.Row{{Heading: true, Name: "a topic"}}
	for i, v := range []verdicts.Verdict{
		{Found: checker.Holds, Expected: checker.Holds}, {Found: checker.Violated}, {Found: checker.Violated, Expected: checker.Violated, Note: "3/14"},
		{Found: checker.Violated, Expected: checker.Holds}, {Found: checker.Unknown, Expected: checker.Violated}, {Found: checker.NotApplicable}, {Expected: checker.Holds},
	} {
		rows = append(rows, full(fmt.Sprintf("row %d", i+1), v))
	}
	rows[1].Shares = []summary.Share{{Rate: runner.Rate{N: 100}}, {Codes: []string{"V1", "V2"}, Rate: runner.Rate{K: 2, N: 100}}}
	rows[2].Variant = true
	rows[3].Trend = &verdicts.Trend{Text: "V1 ✗ up to 2", Link: "#s", Points: []verdicts.Point{{Value: "1", Share: summary.Share{Rate: runner.Rate{K: 3, N: 4}}}, {Value: "2", Share: summary.Share{Rate: runner.Rate{K: 1, N: 4}}}, {Value: "3", Share: summary.Share{Rate: runner.Rate{N: 4}}}}}
	var all strings.Builder
	for _, b := range []document.Textual{verdicts.Legend{}, verdicts.Strip(signs(verdicts.Verdict{Found: checker.Violated})), matrix(rows...)} {
		html, err := b.HTML()
		if err != nil {
			t.Fatal(err)
		}
		all.WriteString(string(html) + "\n" + b.AsText(80) + "\n")
	}
	testkit.GoldenFile(t, "testdata/matrix.html", all.String(), "Verdicts look different on a page.")
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
	if _, err := matrix(row).HTML(); err == nil || !strings.Contains(err.Error(), "row a of a matrix has 2 claims, 8 verdicts") {
		t.Errorf("got %v", err)
	}
}
