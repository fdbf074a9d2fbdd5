package trace_test

import (
	"bytes"
	"maps"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/runner/simulated"
	"github.com/lockstorm/lockstorm/internal/show/trace"
	"github.com/lockstorm/lockstorm/internal/testkit"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/results/cases"
	"github.com/lockstorm/lockstorm/scenarios"
)

// traced runs a scenario and prints its trace, for one property or, if it is empty, for the first
// violated one.
func traced(t *testing.T, s scenarios.Scenario, seed uint64, p checker.Property) (runner.Result, string) {
	t.Helper()
	e, err := runner.Prepare(simulated.Backend(), s)
	if err != nil {
		t.Fatal(err)
	}
	e, told := trace.Of(e)
	r, err := e.Run(t.Context(), seed, nil)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := told.Print(&out, r.Report.Finding(p)); err != nil {
		t.Fatal(err)
	}
	return r, out.String()
}

func find(t *testing.T, name string) scenarios.Scenario {
	t.Helper()
	s, err := scenarios.Find(name)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Law: the trace of the shortest crash-restart stays the same, line by line.
func TestGoldenTrace(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("the traces are those of amd64: floating point may differ between architectures")
	}
	c, err := cases.Load("../../../testdata/cases/redlock-lease-crash-restart.yaml")
	if err != nil {
		t.Fatal(err)
	}
	_, text := traced(t, c.Scenario, c.Seed, c.Property)
	testkit.GoldenFile(t, "testdata/crash-restart.txt", text, "A run is told in other words, or it is another run.")
}

// Law: whatever happens in a storm has words, on one line, and the windows that it marks
// overlap if and only if the judge finds that the property of windows is violated.
func TestEveryRunCanBeTold(t *testing.T) {
	marked := 0
	for _, s := range scenarios.All() {
		r, text := traced(t, runner.WithGenerator(s, nemesis.Generator{Most: 4}), 1, checker.Lease)
		overlaps := strings.Contains(text, "  judge ")
		if is := r.Report.Finding(checker.Lease).Verdict == checker.Violated; is != overlaps {
			t.Errorf("%s: violated is %v, and overlaps are told is %v", s.Name, is, overlaps)
		}
		if overlaps {
			marked++
		}
		for l := range strings.Lines(text) {
			if !utf8.ValidString(l) || strings.ContainsAny(strings.TrimSuffix(l, "\n"), "\t\r\n") || strings.Contains(l, "%!") {
				t.Errorf("%s: %q", s.Name, l)
			}
		}
	}
	if marked == 0 {
		t.Error("no overlap in all of these storms")
	}
}

// figures are what differs between two lines that say the same.
var figures = regexp.MustCompile(`"[^"]*"|\b[0-9a-f]{8,}\b|-?\d+(\.\d+)?(ns|µs|ms|s|m|h)?`)

// Law: the words for the events that these rows are about stay the same.
func TestGoldenWords(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("the traces are those of amd64: floating point may differ between architectures")
	}
	words := map[string]bool{}
	for _, row := range []string{
		"node-clock-jump", "client-wall-step", "client-suspend", "clock-drift", "fence-increment", "compare-crash-zookeeper",
		"slow-acquire", "pause-after-step-3", "quarantine", "watchdog", "fenced-write", "compare-one-down-database-row-asynchronous",
	} {
		_, text := traced(t, find(t, row), 1, checker.Lease)
		_, lines, _ := strings.Cut(text, "WHAT\n")
		for l := range strings.Lines(lines) {
			words[strings.Join(strings.Fields(figures.ReplaceAllString(l, "#")), " ")] = true
		}
	}
	testkit.GoldenFile(t, "testdata/words.txt", strings.Join(slices.Sorted(maps.Keys(words)), "\n")+"\n", "Events are told in other words.")
}

// Law: of section exclusion the windows are its own.
func TestWindowsAreThoseOfTheProperty(t *testing.T) {
	for p, want := range map[checker.Property]bool{checker.Lease: false, checker.Section: true, checker.Effect: false} {
		if _, text := traced(t, find(t, "pause-then-write"), 1, p); strings.Contains(text, "section exclusion is broken") != want {
			t.Errorf("for %s a broken section exclusion is told: want %v", p, want)
		}
	}
}

// A trace has a bound, and says what it has left out.
func TestTracesAreBounded(t *testing.T) {
	const beyond = 7
	tr := trace.New(env.Monotonic)
	tr.Open(history.Header{Nodes: 1, Clients: 1}, nil)
	for i := range trace.MaxRecords + beyond {
		tr.Record(&history.Event{Time: history.Time(i), Kind: history.NodeDown, Node: 1})
	}
	var text strings.Builder
	if err := tr.Print(&text, checker.Finding{}); err != nil {
		t.Fatal(err)
	}
	if want := "\n7 steps more came after that, for which a trace of 200000 has no room.\n"; !strings.HasSuffix(text.String(), want) {
		t.Errorf("it ends with %q: want %q", text.String()[text.Len()-200:], want)
	}
}
