package watch_test

import (
	"flag"
	"runtime"
	"testing"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/conform/watch"
	"github.com/lockstorm/lockstorm/scenarios"
)

// More runs: go test ./internal/conform/watch -v -run Hunt -timeout 0 -args -runs 1000000
var (
	seeds      = flag.Int("seeds", 3, "runs of each row that are compared with the specification")
	runs       = flag.Int("runs", 300, "runs of the hunt that are")
	executions = flag.Int("executions", 50, "executions of each small world, with each choice of its faults, that are; 0: all")
	everyWorld = flag.Bool("every-world", false, "the small worlds of all rows, not of some")
)

// conforms fails the test unless each run within the assumptions is a run of the specification. It logs what
// was compared.
func conforms(t *testing.T, tally *watch.Tally, err error, besides ...string) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d runs within the assumptions:", tally.Runs)
	for _, kind := range tally.Kinds() {
		t.Logf("%12d %s", tally.Steps[kind], kind)
	}
	t.Logf("%d runs beyond them, which break %v", tally.Beyond, tally.Broken)
	for _, f := range tally.Found {
		t.Errorf("run %d of %s is none of the specification: %v", f.Run, f.Scenario, f.Mismatch)
	}
	for _, kind := range append([]string{"Begin", "Send", "Set", "Extend", "Drop", "Grant", "GiveUp", "Delete", "Empty", "Tick"}, besides...) {
		if tally.Steps[kind] == 0 {
			t.Errorf("no run has a step %s", kind)
		}
	}
}

// Law: each run of a row within the assumptions is a run of the specification, with the fences that it draws.
func TestRows(t *testing.T) {
	var tally watch.Tally
	err := tally.Rows(t.Context(), *seeds)
	conforms(t, &tally, err, "BeginDraw", "Count", "Choose", "Raise", "EndDraw")
}

// Law: so is each run that a hunt makes.
func TestHunt(t *testing.T) {
	var tally watch.Tally
	err := tally.Hunt(t.Context(), 0, *runs)
	conforms(t, &tally, err)
}

// Law: so is each execution of the small worlds of rows.
func TestSmallWorlds(t *testing.T) {
	some := []string{"delayed-restart", "quarantine", "watchdog", "duplicate-extension", "client-suspend-counted"}
	if *everyWorld {
		some = nil
	}
	var tally watch.Tally
	err := tally.SmallWorlds(t.Context(), *executions, runtime.GOMAXPROCS(0), some...)
	conforms(t, &tally, err)
}

// Law: the run that the proof found, in which a copy of a SET sets a key again on a node that has lost it, is a
// run of the specification, and lease exclusion holds.
func TestCopiedSet(t *testing.T) {
	s, err := scenarios.Load(root+"/internal/runner/testdata/quarantine-copied-set.yaml", func(scenarios.Scenario) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	r, o := replayed(t, s, 1)
	if f := r.Report.Finding(checker.Lease); f.Verdict != checker.Holds {
		t.Errorf("V1 %v: %s", f.Verdict, f.Story())
	}
	for _, m := range o.Mismatches {
		t.Error(m)
	}
	if o.Steps["Empty"] == 0 || o.Steps["Extend"] == 0 {
		t.Errorf("no node loses its keys, or nothing is extended: %v", o.Steps)
	}
}
