package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/testkit"
)

const pageFile = "docs/evidence/paper.md"

func committedPage(t *testing.T) string {
	t.Helper()
	page, err := os.ReadFile(filepath.Join(root, pageFile))
	if err != nil {
		t.Fatal(err)
	}
	return string(page)
}

// The end of the page, which needs no results, is made from the claims.
func TestPaperPageIsCurrent(t *testing.T) {
	page := committedPage(t)
	results, _, found := strings.Cut(page, withoutHead)
	if !found {
		t.Fatalf("%s lacks %q", pageFile, withoutHead)
	}
	testkit.GoldenFile(t, filepath.Join(root, pageFile), results+withoutResults(claims(t)), "The page quotes other texts than "+claimsFile+".")
}

// Law: no cell of the page contradicts another or the claims. A stopped page says so.
func TestPaperPageAgreesWithItself(t *testing.T) {
	for _, text := range contradictions(committedPage(t), claims(t)) {
		t.Errorf("%s: %s (go run ./internal/paper NAME prints the lines of a claim)", pageFile, text)
	}
}

// Law: the test above notices each contradiction, and none in a page that the command wrote.
func TestContradictionsAreFound(t *testing.T) {
	check := Check{Command: "lockstorm says", Prints: []string{"7 runs"}}
	claim := Claim{Name: "a", Claim: "it holds", Evidence: "page.md", Made: "by hand", Again: []Check{check, {Command: "lockstorm rows", Table: &Table{}}}}
	prints := result{Found: []comparison{exactly("output", "7 runs", "7 runs", true)}}
	boundary := result{Found: []comparison{
		exactly("boundary", "from 0.5 to 0.75", "from 0.7 to 0.8", true),
		rates("share", runner.Rate{K: 5, N: 10}, runner.Rate{K: 5, N: 10})}}
	whole := paperPage([]judged{{claim, []result{prints, boundary}}}, "go")
	stopped := paperPage([]judged{{claim, []result{prints}}}, "go")
	for _, c := range []struct{ page, was, is, want string }{
		{whole, "", "", ""},
		{stopped, "", "", ""},
		{whole, "| 7 runs | 7 runs |", "| 7 runs | 6 runs |", "7 runs committed and 6 runs recomputed"},
		{whole, "| 7 runs | 7 runs |", "| 6 runs | 6 runs |", "says 6 runs was committed"},
		{whole, "from 0.7 to 0.8", "from 0.76 to 0.8", "from 0.76 to 0.8 recomputed"},
		{whole, "3 figures were", "4 figures were", "4 figures"},
		{whole, "`lockstorm says`", "`lockstorm said`", "`lockstorm says`"},
		{whole, "(by hand).\n\n", "(by hand). " + notRun + "\n\n", "2 rows"},
		{stopped, "It was stopped before its end", "It ended", "stopped"},
	} {
		page := strings.Replace(c.page, c.was, c.is, 1)
		if c.was != "" && page == c.page {
			t.Fatalf("%q is not on the page\n%s", c.was, page)
		}
		found := contradictions(page, []Claim{claim})
		if (len(found) > 0) != (c.want != "") || !strings.Contains(strings.Join(found, "\n"), c.want) {
			t.Errorf("%q instead of %q: %q; want %q", c.is, c.was, found, c.want)
		}
	}
}

var headline = regexp.MustCompile(`(?m)^(\d+) figures? were recomputed`)

// contradictions lists where a page contradicts itself or the claims.
func contradictions(page string, claims []Claim) (list []string) {
	add := func(format string, args ...any) { list = append(list, fmt.Sprintf(format, args...)) }
	var run []Check
	stopped := false
	for _, c := range claims {
		for _, check := range c.Again {
			switch line := "\n" + commandLine(c, check); {
			case strings.Contains(page, line+" "+notRun+"\n"):
				stopped = true
			case strings.Contains(page, line+"\n"):
				run = append(run, check)
			default:
				add("no line %q", line[1:])
			}
		}
	}
	if stopped != strings.Contains(page, "It was stopped before its end") {
		add("a command was not run: %v, and what it says of being stopped differs", stopped)
	}
	rows := resultRows(page)
	if len(rows) != len(run) {
		add("%d rows and %d commands that were run", len(rows), len(run))
		return list
	}
	figures := 0
	for i, row := range rows {
		n, err := strconv.Atoi(row.figures)
		if err != nil {
			add("%v", err)
		}
		figures += n
		if p := run[i].Prints; len(p) > 0 && !slices.Contains(p, row.committed) {
			add("a row of %q says %s was committed, and not one of %q", run[i].Command, row.committed, p)
		}
		if row.agreement == "yes" && !row.equal() {
			add("%s committed and %s recomputed agree", row.committed, row.again)
		}
	}
	if m := headline.FindStringSubmatch(page); m == nil || m[1] != fmt.Sprint(figures) {
		add("%q, and the rows have %d", m, figures)
	}
	return list
}

// resultRow is a row of the page's table of results.
type resultRow struct{ figures, committed, again, agreement string }

func resultRows(page string) (rows []resultRow) {
	for _, t := range tables(page) {
		if !slices.Contains(t.head, "recomputed") {
			continue
		}
		for _, r := range t.rows {
			rows = append(rows, resultRow{t.cell(r, "figures"), t.cell(r, "committed"), t.cell(r, "recomputed"), t.cell(r, "agreement")})
		}
	}
	return rows
}

// equal reports whether the cells of an exact figure are equal, or overlap if they are ranges. Two
// rates may differ: the chance beside them was tested.
func (r resultRow) equal() bool {
	if strings.Contains(r.committed, "% interval") && strings.Contains(r.again, "% interval") {
		return true
	}
	var a, b, c, d float64
	if n, _ := fmt.Sscanf(r.committed, "from %g to %g", &a, &b); n == 2 {
		n, _ = fmt.Sscanf(r.again, "from %g to %g", &c, &d)
		return n == 2 && a <= d && c <= b
	}
	return r.committed == r.again
}
