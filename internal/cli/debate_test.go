package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/terminal"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/results"
	"github.com/lockstorm/lockstorm/scenarios"
)

// delays is delayed-restart at several delays.
// --out stores the first run of each row that shows something, or all of them.
func TestDebateStoresRuns(t *testing.T) {
	for keep, number := range map[string]int{"first": 1, "all": 20} {
		dir := t.TempDir()
		code, _, _ := command(t, "debate", "crash-restart", "calm", "--runs", "10", "--out", dir, "--keep", keep)
		want(t, "exit code", code, exitAsExpected)
		left, err := os.ReadDir(dir)
		if err != nil || len(left) != number {
			t.Errorf("--keep %s: %d directories, %v: want %d", keep, len(left), err, number)
		}
	}
	for args, text := range map[string]string{"--keep some --out x": `--keep "some": want first or all`, "--keep all": "--keep needs --out"} {
		code, _, problems := command(t, append([]string{"debate", "calm"}, strings.Fields(args)...)...)
		want(t, "exit code", code, exitBadInput)
		wantIn(t, problems, text)
	}
}

func delays(t *testing.T, values ...time.Duration) scenarios.Series {
	t.Helper()
	s := scenarios.Series{
		Name: "delays", Summary: "how long the node has to stay away", Claims: scenarios.Claims{Antirez: "one TTL is enough"},
		Varied: "delay", Property: checker.Lease, Formula: "0.988 s", Measures: []scenarios.Measure{scenarios.PerMillion},
	}
	for _, v := range values {
		like := "delayed-restart"
		if v < 500*time.Millisecond {
			like = "crash-restart"
		}
		p, err := scenarios.Find(like)
		if err != nil {
			t.Fatal(err)
		}
		p.Name = fmt.Sprintf("delays-%d", v.Milliseconds())
		p.Plan = slices.Clone(p.Plan)
		p.Plan[1].End = nemesis.After(v)
		s.Points = append(s.Points, scenarios.Point{Value: v.String(), Scenario: p})
	}
	return s
}

// held runs a debate on rows and series, and returns what it is and prints.
func held(t *testing.T, d debate, format string) (debate, string) {
	t.Helper()
	o := debateOptions{backend: backends[0].Backend, runs: 10, points: 5, seed: 1}
	d.show = shown{format: format}
	s := o.suite(d)
	var err error
	if d.found, d.refused, err = s.run(context.Background(), io.Discard); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := d.print(&out, s.reference(d.found)); err != nil {
		t.Fatal(err)
	}
	return d, out.String()
}

// A series is one line of the main table and a table of its own, and the threshold
// lies where it must: the validity is over after 988 ms.
func TestSeriesOfTheDebate(t *testing.T) {
	series := delays(t, 0, 300*time.Millisecond, 1100*time.Millisecond, 2*time.Second)
	rows, err := choose([]string{"calm"})
	if err != nil {
		t.Fatal(err)
	}
	rows.topics[0].Series = []scenarios.Series{series}
	d, out := held(t, rows, asText)
	want(t, "outcome", d.Conclusion(), runner.AsExpected)
	wantIn(t, out,
		"delays (series): how long the node has to stay away\nDELAY  V1 VIOLATED  SHARE  95 % INTERVAL  EXPECTED  VIOLATIONS PER 10⁶ GRANTS",
		"300ms  5/5          100 %  [56.6, 100]    ✗ ", "1.1s   0/5          0 %    [0, 43.4]      ✓ ",
		"Lease exclusion turns between 300ms (5/5 of the runs, [56.6, 100]) and 1.1s (0/5 of the runs, [0, 43.4]).\nBy formula it turns at 0.988 s.\n",
		`Point 0s is "lockstorm run delays-0".`)
	wantNarrow(t, out)
	wantMatch(t, out, `one TTL is enough  V1 ✗ up to 300ms +4/4 +–\n`)
	wantIn(t, out, "the last and the first value of a series at which a run violated; few runs may miss one beyond")
	_, page := held(t, rows, asMarkdown)
	wantIn(t, page, "\n### calm\n", "\n### delays (series)\n", "| [delays (series)](#delays-series) |", "- [The network](#the-network)\n",
		"- antirez, redis.io: one TTL is enough\n",
		"- Plan: node 3 crashes, 20ms after client 1 comes to granted, and that is over at once\n",
		"| delay | V1 violated | share |", "| 300ms | 5/5 | 100 % | [56.6, 100] | ✗ |",
		"The first violation, `lockstorm run delays-0 --seed 1`: nodes 4 and 5 are cut off")
}

// A point that is not as expected makes the debate a contradiction, and is seen in
// both tables.
func TestSeriesThatContradicts(t *testing.T) {
	s := delays(t, 0, 2*time.Second)
	s.Points[0].Expect = s.Points[1].Expect
	d, out := held(t, debate{topics: []scenarios.Topic{{Series: []scenarios.Series{s}}}}, asText)
	want(t, "outcome", d.Conclusion(), runner.Contradiction)
	wantIn(t, out, "V1 ✗ at 0s only", "1/2 contradiction  –\n", "[56.6, 100]    ✓, was ✗")
}

// plain is a screen without colours.
type plain struct{ screen }

func (p plain) Screen() terminal.Screen { return terminal.Screen{Width: p.columns, Terminal: true} }

// On a terminal each line of the main table is printed when its runs are done, and all that is printed
// is what stored results give.
func TestLinesAppearWhenTheyAreDecided(t *testing.T) {
	d, err := choose([]string{"calm", "crash-restart", "delayed-restart"})
	if err != nil {
		t.Fatal(err)
	}
	o := debateOptions{backend: backends[0].Backend, runs: 10, points: 5, seed: 1, show: shown{format: asText}}
	d.show = o.show
	atOnce := d
	s := o.suite(d)
	var out bytes.Buffer
	var before []string // what is printed when the first run of a scenario is done
	s.each = func(r stored) {
		if r.Seed == o.seed {
			before = append(before, out.String())
		}
	}
	if err := o.run(t.Context(), &d, s, plain{screen{Writer: &out, columns: 200}}, io.Discard); err != nil {
		t.Fatal(err)
	}
	wantIn(t, before[0], "ROW ")
	for i, line := range []string{"\ncalm ", "\ncrash-restart ", "\ndelayed-restart "} {
		if strings.Contains(before[i], line) || !strings.Contains(before[i+1], line) {
			t.Errorf("line %q is not printed when its runs are done, but:\n%s\nthen\n%s", line, before[i], before[i+1])
		}
	}
	if last := before[len(before)-1]; strings.Contains(last, "(series)") {
		t.Errorf("the series is printed before its last point:\n%s", last)
	}
	if _, want := held(t, atOnce, asText); strings.Join(strings.Fields(out.String()), " ") != strings.Join(strings.Fields(want), " ") { // on a terminal other lines are broken
		t.Errorf("line by line:\n%s\nat once:\n%s", out.String(), want)
	}
}

// On a narrow terminal results come first, and the claims follow in a table of their own.
func TestClaimsBelowResults(t *testing.T) {
	code, out := onScreen(t, 80, "debate", "calm", "crash-restart", "--runs", "5", "--short", "--color", "never")
	want(t, "exit code", code, exitAsExpected)
	results, claims := strings.Index(out, "FOUND"), strings.Index(out, "KLEPPMANN")
	if results < 0 || claims < results {
		t.Errorf("results at %d, claims at %d in:\n%s", results, claims, out)
	}
	wantMatch(t, out, `(?s)crash-restart +V1✗.*crash-restart +unsafe +unsafe\n`)
}

// Named rows can be saved by themselves, and then renewed.
func TestNamedRowsAreSaved(t *testing.T) {
	dir := t.TempDir()
	for _, runs := range []string{"5", "7"} {
		code, _, problems := command(t, "debate", "crash-restart", "--runs", runs, "--save", dir)
		want(t, "exit code, "+problems, code, exitAsExpected)
		_, stored, _ := command(t, "debate", "--from", dir)
		wantIn(t, stored, "crash-restart", runs+"/"+runs)
	}
}

func TestDebateOnNamedRows(t *testing.T) {
	code, out, _ := command(t, "debate", "crash-restart", "calm", "--runs", "5", "--short")
	want(t, "exit code", code, exitAsExpected)
	wantIn(t, out, "crash-restart  unsafe", "calm           –")
	for _, no := range []string{"slow-acquire", "95 %"} {
		if strings.Contains(out, no) {
			t.Errorf("%q in:\n%s", no, out)
		}
	}
	d, err := among([]scenarios.Topic{{Series: []scenarios.Series{delays(t, 0), {Name: "other"}}}}, []string{"delays"})
	if err != nil || !slices.Equal(d.names(), []string{"delays"}) {
		t.Errorf("got %+v, %v", d, err)
	}
	code, _, problems := command(t, "debate", "calm", "claim")
	want(t, "exit code of a row that there is not", code, exitBadInput)
	wantIn(t, problems, fmt.Sprintf(`unknown row "claim"; the nearest of %d: calm ("lockstorm list" names all)`, knownRows()))
}

// knownRows is how many rows and series of the table have a name.
func knownRows() int { return len(debate{topics: scenarios.Topics()}.names()) }

// The commands that stored results of real servers are printed with run on those.
func TestStoredResultsAreRepeatedOnTheirBackend(t *testing.T) {
	dir := filepath.Join("..", "..", "results")
	_, out, _ := command(t, "debate", "--from", filepath.Join(dir, "process"), "--short")
	wantIn(t, out, `"lockstorm run ROW --seed SEED --backend process" repeats it`)
	_, out, _ = command(t, "debate", "--from", filepath.Join(dir, "reference"), "--short")
	wantIn(t, out, `"lockstorm run ROW --seed SEED" repeats it`)
	page := filepath.Join(t.TempDir(), "page.html")
	_, out, _ = command(t, "compare", "--from", filepath.Join(dir, "stores"), "--report", page)
	wantIn(t, out, `"lockstorm run compare-crash-LOCK --seed 3 --backend process" repeats it`)
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	wantIn(t, string(text), "etcd 3.4.23", "zookeeper 3.8.0") // what they were made with, and not what this program is
}

// A saved debate is printed again without a run, in every format.
func TestDebateFromWhatWasSaved(t *testing.T) {
	dir := t.TempDir()
	code, ran, _ := command(t, "debate", "--runs", "1", "--points", "1", "--save", dir)
	again, recalled, _ := command(t, "debate", "--from", dir)
	want(t, "exit code of --from, as that of the runs (one of each row may show too little)", again, code)
	want(t, "recalled", recalled, ran)
	_, encoded, _ := command(t, "debate", "--from", dir, "--format", "json")
	stored, err := os.ReadFile(filepath.Join(dir, results.DebateFile))
	if err != nil {
		t.Fatal(err)
	}
	want(t, "as JSON", encoded, string(stored))
	if err := os.WriteFile(filepath.Join(dir, results.DebateFile), bytes.ReplaceAll(stored, []byte(`"calm"`), []byte(`"clam"`)), 0o644); err != nil {
		t.Fatal(err)
	}
	code, _, problems := command(t, "debate", "--from", dir)
	want(t, "exit code of a row that there is not", code, exitBadInput)
	wantIn(t, problems, `the stored results are not of this program: unknown scenario "clam"`)
}

// Rows that are named take the place of those that were saved, and the others stay.
func TestRowsOfADebateAreRenewed(t *testing.T) {
	dir := t.TempDir()
	command(t, "debate", "--runs", "1", "--points", "1", "--save", dir)
	before, err := results.LoadReference(dir, results.DebateFile)
	if err != nil {
		t.Fatal(err)
	}
	if code, _, problems := command(t, "debate", "leap-second-smeared", "--runs", "2", "--save", dir); code != 0 {
		t.Fatal(code, problems)
	}
	after, err := results.LoadReference(dir, results.DebateFile)
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range after.Rows {
		runs := 1
		if r.Scenario == "leap-second-smeared" {
			runs = 2
		}
		if r.Scenario != before.Rows[i].Scenario || r.Runs != runs {
			t.Errorf("row %d was %s, and is %s with %d runs", i, before.Rows[i].Scenario, r.Scenario, r.Runs)
		}
	}
	want(t, "rows", len(after.Rows), len(before.Rows))
}

func TestStoppedDebatePrintsWhatIsKnown(t *testing.T) {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	d, err := choose([]string{"calm", "crash-restart"})
	if err != nil {
		t.Fatal(err)
	}
	b := backends[0].Backend
	opened, open := 0, b.Open
	b.Open = func(c context.Context, s nemesis.Setting, seed uint64, sink history.Sink) (runner.World, error) {
		if opened++; opened == 3 {
			stop()
		}
		return open(c, s, seed, sink)
	}
	dir := t.TempDir()
	o := debateOptions{backend: b, sideBySide: 1, runs: 2, seed: 1, save: dir}
	var out bytes.Buffer
	err = o.run(ctx, &d, o.suite(d), &out, io.Discard)
	if !errors.Is(err, verdictError(exitUndecided)) {
		t.Errorf("got %v", err)
	}
	wantIn(t, out.String(), "2/2", stoppedLine)
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("saved %v", left)
	}
}
