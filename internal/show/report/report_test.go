package report_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/measure/sweep"
	"github.com/lockstorm/lockstorm/internal/measure/tune"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/runner/simulated"
	"github.com/lockstorm/lockstorm/internal/servers/process"
	"github.com/lockstorm/lockstorm/internal/show/report"
	"github.com/lockstorm/lockstorm/internal/show/runpage"
	"github.com/lockstorm/lockstorm/internal/testkit"
	"github.com/lockstorm/lockstorm/results"
	"github.com/lockstorm/lockstorm/results/cases"
	"github.com/lockstorm/lockstorm/scenarios"
)

var options = report.Options{
	Backend: func(name string) (runner.Backend, error) {
		switch b := simulated.Backend(); name {
		case b.Name:
			return b, nil
		case "process":
			b.Ability, b.Keys, b.Exact = process.Backend{}.Ability(), false, false
			return b, nil
		}
		return runner.Backend{}, fmt.Errorf("unknown backend %q", name)
	},
	Simulator:  simulated.Backend(),
	MaxDetails: 3,
}

// page makes the page of some paths. It checks that its anchors are unique, and its links have targets.
func page(t *testing.T, names ...string) string {
	t.Helper()
	r, err := report.Of(t.Context(), names, options)
	if err != nil {
		t.Fatal(err)
	}
	return checkPage(t, r)
}

func checkPage(t *testing.T, r *report.Report) string {
	t.Helper()
	var text bytes.Buffer
	if err := r.Write(&text); err != nil {
		t.Fatal(err)
	}
	root, err := html.Parse(bytes.NewReader(text.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	ids, links := map[string]bool{}, map[string]bool{}
	for n := range root.Descendants() {
		for _, a := range n.Attr {
			switch {
			case a.Key == "id" && ids[a.Val]:
				t.Errorf("the anchor %s is there twice", a.Val)
			case a.Key == "id":
				ids[a.Val] = true
			case a.Key == "href" && strings.HasPrefix(a.Val, "#"):
				links[a.Val[1:]] = true
			case n.Data == "a" && a.Key == "href" && isArticle(a.Val): // a link, which nothing is loaded from
			case a.Key == "src", a.Key == "href" && !strings.HasPrefix(a.Val, "data:"), strings.HasPrefix(a.Key, "on"):
				t.Errorf("%s has %s=%q", n.Data, a.Key, a.Val)
			}
		}
	}
	for link := range links {
		if !ids[link] {
			t.Errorf("a link leads to %s, and there is none", link)
		}
	}
	return text.String()
}

// isArticle reports whether an address is that of an article of the debate.
func isArticle(address string) bool {
	var claims []scenarios.Claim
	for _, series := range scenarios.AllSeries() {
		claims = append(claims, series.Claims...)
	}
	for _, topic := range scenarios.Topics() {
		for _, r := range topic.Rows {
			claims = append(claims, r.Claims...)
		}
	}
	for _, c := range scenarios.Contenders() {
		claims = append(claims, c.Claims...)
	}
	for _, u := range scenarios.UntestedClaims() {
		claims = append(claims, u.Claim)
	}
	return slices.ContainsFunc(claims, func(c scenarios.Claim) bool { return c.Link() == address })
}

func wantIn(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !strings.Contains(text, p) {
			t.Errorf("no %q on the page", p)
		}
	}
}

// plain is a page as text.
func plain(t *testing.T, r *report.Report) string {
	t.Helper()
	var text strings.Builder
	if err := r.WriteText(&text, 100); err != nil {
		t.Fatal(err)
	}
	return text.String()
}

// storedRuns makes and stores runs of a scenario.
func storedRuns(t *testing.T, scenario string, runs int) (dir string) {
	t.Helper()
	s, err := scenarios.Find(scenario)
	if err != nil {
		t.Fatal(err)
	}
	e, err := runner.Prepare(simulated.Backend(), s)
	if err != nil {
		t.Fatal(err)
	}
	dir = t.TempDir()
	k, err := results.NewKeeper(dir, e, map[string]string{"go": "go1"})
	if err != nil {
		t.Fatal(err)
	}
	for seed := range uint64(runs) {
		if _, _, err := k.Run(t.Context(), seed+1); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

const reference = "../../../results/reference"

// storedDebate stores those results of the reference debate that keep wants, as if a backend had shown
// them. Without keep it stores all.
func storedDebate(t *testing.T, backend string, keep func(results.Row) bool) (dir string) {
	t.Helper()
	f, err := results.LoadReference(reference, results.DebateFile)
	if err != nil {
		t.Fatal(err)
	}
	if keep != nil {
		f.Rows = slices.DeleteFunc(f.Rows, func(r results.Row) bool { return !keep(r) })
	}
	f.Backend = backend
	dir = t.TempDir()
	if err := f.Save(dir, results.DebateFile); err != nil {
		t.Fatal(err)
	}
	return dir
}

// isRow tells rows from points of series.
func isRow(r results.Row) bool {
	return slices.ContainsFunc(scenarios.All(), func(s scenarios.Scenario) bool { return s.Name == r.Scenario })
}

// advice is an advice, with few runs.
func advice(t *testing.T) tune.Advice {
	t.Helper()
	q := tune.Usual()
	if err := q.Read("../../../docs/service.yaml"); err != nil {
		t.Fatal(err)
	}
	a, err := tune.Advise(t.Context(), q, tune.Options{Backend: simulated.Backend(), Runs: 5, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// A page as text: a debate on two backends, runs of which one was cut off, a case, a sweep that was
// stopped, and advice.
func TestGoldenPage(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("floating point may differ between architectures")
	}
	few := func(r results.Row) bool { return r.Scenario == "calm" || r.Scenario == "crash-restart" }
	runs := storedRuns(t, "crash-restart", 2)
	if err := os.Remove(filepath.Join(runs, "crash-restart-sim-2", results.RunFile)); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(reference, "drift-edge", sweep.OutcomesFile))
	if err != nil {
		t.Fatal(err)
	}
	stopped := t.TempDir()
	if err := os.WriteFile(filepath.Join(stopped, sweep.OutcomesFile), bytes.Join(bytes.SplitAfter(text, []byte("\n"))[:4], nil), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := report.Of(t.Context(), []string{storedDebate(t, "sim", few), storedDebate(t, "process", few), runs, "../../../testdata/cases/redlock-lease-crash-restart.yaml", stopped}, options)
	if err != nil {
		t.Fatal(err)
	}
	a := advice(t)
	a.Front = a.Front[:2]
	refused := tune.Advice{Question: a.Question, Refusal: "too wishful"}
	byModel := tune.Advice{Question: a.Question, Recommended: new(*a.Recommended), Unvalidated: "stopped", Front: a.Front, WeighedSettings: a.WeighedSettings}
	byModel.Recommended.RestartDelay = 0
	for _, a := range []tune.Advice{a, refused, byModel} {
		if err := r.Advice(a, ""); err != nil {
			t.Fatal(err)
		}
	}
	checkPage(t, r)
	r.Title = "a page"
	testkit.GoldenFile(t, "testdata/page.txt", strings.ReplaceAll(plain(t, r), runs, "runs"), "A page says something else.")
}

// Every row of the debate is on the page, with the claims on it and the results of each
// backend. The first violations have their witnesses.
func TestDebate(t *testing.T) {
	text := page(t, reference, storedDebate(t, "process", isRow))
	for _, s := range scenarios.All() {
		wantIn(t, text, `id="row-`+s.Name+`"`)
		wantIn(t, html.UnescapeString(text), s.Summary)
	}
	wantIn(t, text, fmt.Sprintf("As expected: %d of %[1]d rows and %d of %[2]d series on sim", len(scenarios.All()), len(scenarios.AllSeries())),
		"Sweep: drift-edge", "Every lock behaves as claimed.")
	if n := strings.Count(text, `<details id="witness-`); n != options.MaxDetails {
		t.Errorf("%d witnesses; want %d", n, options.MaxDetails)
	}
	if n := strings.Count(text, "no reason is known"); n > 0 {
		t.Errorf("%d differences without a reason: what a backend cannot check is no difference", n)
	}
	// Of the stored results nothing contradicts a claim or an expectation.
	if n := strings.Count(text, `class="verdict marked`); n != 0 {
		t.Errorf("%d verdicts are marked", n)
	}
}

// Law: the page of a run that failed the test of a lock leads with what failed it, and says why the other
// violations did not.
func TestAFailedTestLeadsWithWhatFailedIt(t *testing.T) {
	s, err := runpage.Load(crashRestart(t))
	if err != nil {
		t.Fatal(err)
	}
	s.Run.Scenario.Expect = nil
	s.Run.Judged = &runner.Judged{
		Failed: []checker.Property{checker.Effect},
		Limits: []runner.Limit{{Property: checker.Lease, Why: "nodes forget"}, {Property: checker.Section, Why: "nodes forget, too"}},
	}
	r := report.New("a test", options)
	if err := r.Runs([]runpage.Shown{s}); err != nil {
		t.Fatal(err)
	}
	text := checkPage(t, r)
	wantIn(t, text, "V3 effect exclusion is violated, which failed the test.", "Limit: V1 lease exclusion is violated, but not promised, because nodes forget.", "limit: not promised")
	if _, first, _ := strings.Cut(text, `class="sentence">`); !strings.HasPrefix(first, "An update of") || strings.Contains(text, "the scenario states no expectation") {
		t.Errorf("the page leads with %.80q, and not with the lost update, or speaks of a scenario that the user has not written", first)
	}
}

// Law: of a run that the machine was too slow for, no page says that a property holds or is violated.
func TestASlippedRunIsUnknown(t *testing.T) {
	for _, scenario := range []string{"calm", "crash-restart"} {
		s, err := runpage.Load(filepath.Join(storedRuns(t, scenario, 1), scenario+"-sim-1"))
		if err != nil {
			t.Fatal(err)
		}
		s.Run.Slip = s.Run.Scenario.AllowedSlip() + time.Millisecond
		why := fmt.Sprintf("he machine was too slow, %v late; allowed: %v", s.Run.Slip, s.Run.Scenario.SlipLimit())
		for _, runs := range []int{1, 2} {
			r := report.New("slipped", options)
			if err := r.Runs(slices.Repeat([]runpage.Shown{s}, runs)); err != nil {
				t.Fatal(err)
			}
			text := checkPage(t, r)
			wantIn(t, text, why)
			for _, wrong := range []string{"✗\u00a0V", "✓\u00a0V", `<td class="good`, `<td class="bad`, `tile holds"`, `tile violated"`} {
				if strings.Contains(text, wrong) {
					t.Errorf("%s, %d runs: there is %q on the page", scenario, runs, wrong)
				}
			}
		}
	}
}

func TestManyRuns(t *testing.T) {
	wantIn(t, page(t, storedRuns(t, "crash-restart", options.MaxDetails+1)),
		fmt.Sprintf("The first %d of %d runs with a violation.", options.MaxDetails, options.MaxDetails+1), `class="sorts filters cards"`)
}

// Every case of the project is on the page, and still shows what it should.
func TestCases(t *testing.T) {
	text := page(t, "../../../testdata/cases")
	paths, _ := filepath.Glob("../../../testdata/cases/*" + cases.Extension)
	for _, p := range paths {
		wantIn(t, text, strings.TrimSuffix(filepath.Base(p), cases.Extension))
	}
	if n := strings.Count(text, `<p class="notice good">The case says`); n != len(paths) || n == 0 {
		t.Errorf("%d of %d cases show what they say", n, len(paths))
	}
	page(t, paths[0])
}

// Texts of stored files are escaped.
func TestHostileNamesAreEscaped(t *testing.T) {
	const hostile = `</script><script>alert("x")</script><img src=x onerror=alert(1)>`
	dir := storedRuns(t, "calm", 1)
	one := filepath.Join(dir, "calm-sim-1")
	run, err := results.Load(one)
	if err != nil {
		t.Fatal(err)
	}
	s := runpage.Shown{Title: hostile, Run: run, Command: hostile}
	s.Run.Report = checker.Report{Cut: hostile, Findings: []checker.Finding{{Property: checker.Lease, Verdict: checker.Violated, Events: []checker.Event{{Text: hostile}}}}}
	s.Run.Scenario.Summary, s.Run.Versions = hostile, map[string]string{hostile: hostile}
	r := report.New(hostile, options)
	if err := r.Runs([]runpage.Shown{s, s}); err != nil {
		t.Fatal(err)
	}
	found := sweep.Results{Head: sweep.Head{Sweep: "a <b> & \"c\"", Summary: "<img src=x>", Property: checker.Lease, Params: []sweep.Param{{Name: "x<y", Summary: hostile}}, Total: 1, Runs: 1},
		Outcomes: []sweep.Outcome{{Unit: 1, Curve: `"></svg><script>`, At: []float64{1}, Runs: 1, Point: &sweep.PointResult{Scenario: hostile, Held: 1}}}}
	if err := r.Campaign(found); err != nil {
		t.Fatal(err)
	}
	text := checkPage(t, r)
	if strings.Contains(text, "<img") || strings.Contains(text, `alert("x")</script>`) || strings.Count(text, "<script>") != 1 {
		t.Error("a text is not escaped")
	}
}

// Errors name the path that cannot be shown.
func TestBadInput(t *testing.T) {
	empty := t.TempDir()
	cut := storedRuns(t, "calm", 1)
	one := filepath.Join(cut, "calm-sim-1")
	if err := os.Remove(filepath.Join(one, results.RunFile)); err != nil {
		t.Fatal(err)
	}
	with := func(file string, text []byte) string {
		dir := t.TempDir()
		testkit.Write(t, filepath.Join(dir, file), string(text))
		return dir
	}
	half := func(path string) []byte {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return text[:len(text)/2]
	}
	caseFile := "../../../testdata/cases/redlock-lease-suspend.yaml"
	for name, c := range map[string]struct {
		names []string
		want  string
	}{
		"no such directory":            {[]string{"nowhere"}, "nowhere does not exist"},
		"an empty directory":           {[]string{empty}, empty + ": no results: no run.json, debate.json"},
		"a run that was cut off":       {[]string{one}, "has a history and no run.json: the run was cut off"},
		"a debate that was cut off":    {[]string{with(results.DebateFile, half(filepath.Join(reference, results.DebateFile)))}, results.DebateFile + ": unexpected end of JSON input"},
		"a run.json that was cut off":  {[]string{with(results.RunFile, []byte(`{"version":1,`))}, results.RunFile + ": "},
		"a case that was cut off":      {[]string{with("a.yaml", half(caseFile))}, "a.yaml: "},
		"a history that was cut off":   {[]string{filepath.Join(with("h.jsonl", half(filepath.Join(one, results.HistoryFile))), "h.jsonl")}, "h.jsonl: "},
		"a history of Jepsen":          {[]string{"../../../internal/jepsen/testdata/given-away.edn"}, "given-away.edn: a Jepsen history, and reports show histories of Lockstorm: lockstorm check "},
		"two debates on one backend":   {[]string{reference, reference}, "two debates on sim"},
		"a debate on nobody's backend": {[]string{with(results.DebateFile, []byte(`{"format":"lockstorm-reference","version":1,"backend":"lead","rows":[]}`))}, `unknown backend "lead"`},
		"a journal of something else":  {[]string{with(sweep.OutcomesFile, []byte("{}\n"))}, "it is not the file of a sweep"},
	} {
		if _, err := report.Of(context.Background(), c.names, options); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
}

// crashRestart stores a run that violates exclusion.
func crashRestart(t *testing.T) (dir string) {
	t.Helper()
	return filepath.Join(storedRuns(t, "crash-restart", 1), "crash-restart-sim-1")
}
