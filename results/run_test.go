package results_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/historytest"
	"github.com/lockstorm/lockstorm/internal/packed"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/runner/simulated"
	"github.com/lockstorm/lockstorm/internal/testkit"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/results"
	"github.com/lockstorm/lockstorm/scenarios"
)

var simulator = simulated.Backend()

// store runs a scenario and stores it.
func store(t *testing.T, parent, name string) (string, runner.Result) {
	t.Helper()
	s, err := scenarios.Find(name)
	if err != nil {
		t.Fatal(err)
	}
	return keep(t, parent, s)
}

func keep(t *testing.T, parent string, s scenarios.Scenario) (string, runner.Result) {
	t.Helper()
	e, err := runner.Prepare(simulator, s)
	if err != nil {
		t.Fatal(err)
	}
	keeper, err := results.NewKeeper(parent, e, map[string]string{"go": "go1"})
	if err != nil {
		t.Fatal(err)
	}
	r, dir, err := keeper.Run(context.Background(), 1)
	if err != nil {
		t.Fatal(err)
	}
	return dir, r
}

// Law: what is stored is loaded, and judged as it was.
func TestWhatIsStoredIsJudgedAsItWas(t *testing.T) {
	for _, s := range scenarios.All() {
		dir, r := store(t, t.TempDir(), s.Name)
		run, err := results.Load(dir)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(run.Scenario.Scenario, s) || run.Seed != 1 || run.Backend != "sim" || run.TraceHash != results.Hash(r.TraceHash) {
			t.Errorf("%s: loaded %+v", s.Name, run)
		}
		file, err := os.Open(filepath.Join(dir, results.HistoryFile))
		if err != nil {
			t.Fatal(err)
		}
		header, report, err := results.Judge(file)
		_ = file.Close()
		if err != nil {
			t.Fatal(err)
		}
		if header.Scenario != s.Name || !reflect.DeepEqual(report.Verdicts(), run.Verdicts) {
			t.Errorf("%s: judged %v, stored %v", s.Name, report.Verdicts(), run.Verdicts)
		}
	}
}

func TestNoRunIsWrittenOver(t *testing.T) {
	parent := t.TempDir()
	for _, want := range []string{"calm-sim-1", "calm-sim-1.2", "calm-sim-1.3"} {
		if dir, _ := store(t, parent, "calm"); filepath.Base(dir) != want {
			t.Errorf("stored in %s, want %s", dir, want)
		}
	}
}

// Others can look at a run in real time while it goes on.
func TestLiveHistoryIsWrittenAtOnce(t *testing.T) {
	d, err := results.Create(t.TempDir(), "live", history.Header{Scenario: "s", Lock: "redlock", Backend: "process", Nodes: 1, Clients: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = d.Discard() }()
	d.LiveHistory().Record(&history.Event{Time: 5, Kind: history.Kill, Client: 1})
	text, err := os.ReadFile(filepath.Join(d.Path(), results.HistoryFile))
	if err != nil || bytes.Count(text, []byte("\n")) != 2 {
		t.Errorf("after an event the file has %q: %v", text, err)
	}
}

func TestDiscardLeavesNothing(t *testing.T) {
	parent := t.TempDir()
	d, err := results.Create(parent, "calm", history.Header{})
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Discard(); err != nil {
		t.Fatal(err)
	}
	if left, _ := os.ReadDir(parent); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestLoadRefuses(t *testing.T) {
	cases := map[string]string{
		"{":                 "unexpected end of JSON input",
		`{"version":9}`:     "has version 9; this program reads version 1",
		`{"seed":"twelve"}`: "cannot unmarshal string",
	}
	for text, want := range cases {
		dir := t.TempDir()
		testkit.Write(t, filepath.Join(dir, results.RunFile), text)
		if _, err := results.Load(dir); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", text, err, want)
		}
	}
}

// Law: run.json is the same whether the scenario was encoded for all runs or for this one, with the
// drawn plan; no other file is left beside it.
func TestRunFile(t *testing.T) {
	calm, err := scenarios.Find("calm")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []scenarios.Scenario{calm, runner.WithGenerator(calm, nemesis.Generator{Most: 5})} {
		dir, r := keep(t, t.TempDir(), s)
		text := testkit.Read(t, filepath.Join(dir, results.RunFile))
		want, err := json.MarshalIndent(results.RunOf(r, map[string]string{"go": "go1"}), "", "  ")
		if err != nil || text != string(want)+"\n" {
			t.Errorf("%v, stored\n%s\nwant\n%s", err, text, want)
		}
		run, err := results.Load(dir)
		if err != nil || !reflect.DeepEqual(run.Scenario.Scenario, r.Executed()) || len(run.Scenario.Plan) == 0 && s.Generate != nil {
			t.Errorf("%v, loaded %+v", err, run.Scenario)
		}
		if files, err := os.ReadDir(dir); err != nil || len(files) != 2 {
			t.Errorf("%v, in the directory: %v", err, files)
		}
	}
}

// unpacked judges a history whichever way it has been compressed.
func unpacked(from io.Reader) (checker.Report, error) {
	plain, err := packed.Reader(from)
	if err != nil {
		return checker.Report{}, err
	}
	defer func() { _ = plain.Close() }()
	_, report, err := results.Judge(plain)
	return report, err
}

// Law: a history is found in its directory and judged as it was, whichever way it has
// been compressed.
func TestCompressedHistoriesAreFoundAndJudged(t *testing.T) {
	for _, p := range historytest.Packings[1:] {
		dir, r := store(t, t.TempDir(), "crash-restart")
		plain := filepath.Join(dir, results.HistoryFile)
		text, err := os.ReadFile(plain)
		if err != nil {
			t.Fatal(err)
		}
		compress(t, plain+p.Ending, p, text)
		if _, err := results.HistoryPath(dir); err == nil || !strings.Contains(err.Error(), "history.jsonl and history.jsonl"+p.Ending) {
			t.Errorf("of two: got %v", err)
		}
		if err := os.Remove(plain); err != nil {
			t.Fatal(err)
		}
		path, err := results.HistoryPath(dir)
		if err != nil || path != plain+p.Ending {
			t.Fatalf("found %s, %v", path, err)
		}
		file, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		report, err := unpacked(file)
		if err != nil || !reflect.DeepEqual(report.Verdicts(), r.Report.Verdicts()) {
			t.Errorf("%s: judged %v, %v; was %v", p.Name, report.Verdicts(), err, r.Report.Verdicts())
		}
		if err := file.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func compress(t *testing.T, path string, p historytest.Packing, text []byte) {
	t.Helper()
	var b bytes.Buffer
	if err := p.Write(&b, func(w io.Writer) error { _, err := w.Write(text); return err }); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestHistoryPathRefusesADirectoryWithoutOne(t *testing.T) {
	if _, err := results.HistoryPath(t.TempDir()); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "has no history.jsonl") {
		t.Errorf("got %v", err)
	}
}

// A truncated compressed history is reported as such, with the last line that was read.
func TestACompressedHistoryThatIsCutOff(t *testing.T) {
	var b bytes.Buffer
	if err := historytest.Packings[1].Write(&b, func(w io.Writer) error { return historytest.Grants(w, 10_000) }); err != nil {
		t.Fatal(err)
	}
	_, err := unpacked(bytes.NewReader(b.Bytes()[:b.Len()/2]))
	var of *history.LineError
	if !errors.As(err, &of) || of.Line < 2 || !strings.Contains(err.Error(), "the gzip stream is cut off") {
		t.Errorf("got %v", err)
	}
}
