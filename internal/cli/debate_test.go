package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
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
	d.named = true
	o := suiteOptions{backend: backends[0].Backend, runs: 10, seed: 1, format: format}
	var out bytes.Buffer
	_, _, err := o.present(t.Context(), &d, &out, io.Discard)
	if !isVerdict(err) {
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
	want(t, "outcome", d.conclusion(), runner.AsExpected)
	wantIn(t, out,
		"delays (series): how long the node has to stay away\nDELAY  V1 VIOLATED  SHARE  95 % INTERVAL  EXPECTED  VIOLATIONS PER 10⁶ GRANTS",
		"300ms  5/5          100 %  [56.6, 100]    ✗ ", "1.1s   0/5          0 %    [0, 43.4]      ✓ ",
		"Lease exclusion turns between 300ms (5/5 of the runs, [56.6, 100]) and 1.1s (0/5 of the runs, [0, 43.4]).\nBy formula it turns at 0.988 s.\n",
		`Point 0s is "lockstorm run delays-0".`)
	wantNarrow(t, out)
	wantMatch(t, out, `one TTL is enough  V1 ✗ up to 300ms +4/4 +–\n`)
	wantIn(t, out, "the last and the first value of a series at which a run violated; few runs may miss one beyond")
	_, page := held(t, rows, asMarkdown)
	wantIn(t, page, "| calm | – | – | ✓ |\n", "| delays (series) | – | one TTL is enough | V1 ✗ up to 300ms |\n")
}

// A point that is not as expected makes the debate a contradiction, and is seen in
// both tables.
func TestSeriesThatContradicts(t *testing.T) {
	s := delays(t, 0, 2*time.Second)
	s.Points[0].Expect = s.Points[1].Expect
	d, out := held(t, debate{topics: []scenarios.Topic{{Series: []scenarios.Series{s}}}}, asText)
	want(t, "outcome", d.conclusion(), runner.Contradiction)
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
	atOnce := d
	var out bytes.Buffer
	var before []string // what is printed when the first run of a scenario is done
	o := suiteOptions{backend: backends[0].Backend, runs: 10, seed: 1, format: asText, each: func(r stored) {
		if r.Seed == 1 {
			before = append(before, out.String())
		}
	}}
	if _, _, err := o.present(t.Context(), &d, plain{screen{Writer: &out, columns: 200}}, io.Discard); err != nil {
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
	code, out := onScreen(t, 80, "debate", "calm", "crash-restart", "--runs", "5", "--color", "never")
	want(t, "exit code", code, exitAsExpected)
	results, claims := strings.Index(out, "FOUND"), strings.Index(out, "KLEPPMANN")
	if results < 0 || claims < results {
		t.Errorf("results at %d, claims at %d in:\n%s", results, claims, out)
	}
	wantMatch(t, out, `(?s)crash-restart +V1✗.*crash-restart +unsafe +unsafe\n`)
}

// reference has the stored results, which internal/runner compares with the program.
const reference = "../../results/reference"

// The commands that stored results of real servers are printed with run on those.
func TestStoredResultsAreRepeatedOnTheirBackend(t *testing.T) {
	for file, args := range map[string][]string{results.DebateFile: {"debate"}, results.CompareFile: {"compare"}} {
		f, err := results.LoadReference(reference, file)
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		f.Backend, f.Versions = "process", map[string]string{"etcd": "3.4.23"}
		if err := f.Save(dir, file); err != nil {
			t.Fatal(err)
		}
		_, out, _ := command(t, append(args, "--from", reference)...)
		wantMatch(t, out, `"lockstorm run [A-Za-z-]+ --seed [A-Z0-9]+" repeats it`)
		page := filepath.Join(t.TempDir(), "page.html")
		_, out, _ = command(t, append(args, "--from", dir, "--report", page)...)
		wantMatch(t, out, `"lockstorm run [A-Za-z-]+ --seed [A-Z0-9]+ --backend process" repeats it`)
		wantIn(t, read(t, page), "etcd 3.4.23") // what they were made with, and not what this program is
	}
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
	o := suiteOptions{backend: b, parallel: 1, runs: 2, seed: 1, out: dir, format: asText}
	var out bytes.Buffer
	_, _, err = o.present(ctx, &d, &out, io.Discard)
	if !errors.Is(err, verdictError(exitUndecided)) {
		t.Errorf("got %v", err)
	}
	wantIn(t, out.String(), "2/2", stoppedLine)
	if _, err := results.LoadReference(dir, results.DebateFile); err == nil {
		t.Error("the results so far are stored")
	}
}
