package results_test

import (
	"context"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/results"
	"github.com/lockstorm/lockstorm/scenarios"
)

// rows runs some scenarios a few times, of which some violate something.
func rows(t *testing.T) []results.Row {
	t.Helper()
	var all []results.Row
	for _, name := range []string{"majority-partition-bridge", "crash-restart", "short-restart", "delayed-restart"} {
		s, err := scenarios.Find(name)
		if err != nil {
			t.Fatal(err)
		}
		e, err := runner.Prepare(simulator, s)
		if err != nil {
			t.Fatal(err)
		}
		tally, err := runner.Batch{Experiment: e, First: 3, Runs: 4}.Run(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, results.RowOf(tally, 3))
	}
	return append(all, late(t))
}

// late is a row of which two runs of three slipped.
func late(t *testing.T) results.Row {
	s, err := scenarios.Find("calm")
	if err != nil {
		t.Fatal(err)
	}
	tally := runner.NewTally(s)
	for seed := range uint64(3) {
		r, err := runner.Run(t.Context(), simulator, s, seed, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.SchedulingLag = time.Duration(seed) * time.Minute
		tally.Add(r)
	}
	return results.RowOf(tally, 0)
}

// Law: what is saved is loaded, and a tally of a row is stored as that row.
func TestReferenceSurvives(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "reference")
	saved := results.Reference{Backend: "sim", Versions: map[string]string{"go": "go1"}, Rows: rows(t)}
	if err := saved.Save(dir, results.DebateFile); err != nil {
		t.Fatal(err)
	}
	loaded, err := results.LoadReference(dir, results.DebateFile)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(loaded.Rows, saved.Rows) || loaded.Backend != "sim" || !reflect.DeepEqual(loaded.Versions, saved.Versions) {
		t.Errorf("saved %+v\nloaded %+v", saved, loaded)
	}
	stories := 0
	for _, r := range loaded.Rows {
		s, err := scenarios.Find(r.Scenario)
		if err != nil {
			t.Fatal(err)
		}
		tally := r.Tally(s)
		if again := results.RowOf(tally, r.First); !reflect.DeepEqual(again, r) {
			t.Errorf("stored %+v\nagain %+v", r, again)
		}
		want := runner.AsExpected
		if r.Slipped != nil {
			want = runner.Undecided
		}
		if tally.Conclusion() != want || r.Measured.Grants == 0 || len(r.Trace) != 16 {
			t.Errorf("%s: %v, %d grants, trace %q", r.Scenario, tally.Conclusion(), r.Measured.Grants, r.Trace)
		}
		stories += len(r.Violations)
	}
	if slipped := loaded.Rows[len(loaded.Rows)-1].Slipped; slipped == nil || *slipped != (results.Slipped{Runs: 2, Seed: 1, Slip: time.Minute}) {
		t.Errorf("of the runs that slipped it is stored: %+v", slipped)
	}
	if stories == 0 {
		t.Error("no violation was stored: this test shows nothing of them")
	}
}

func TestLoadReferenceRefuses(t *testing.T) {
	const head = `{"format":"lockstorm-reference","version":1,`
	cases := map[string]string{
		"{":                                      "unexpected end of JSON input",
		`{"version":2}`:                          `its format is ""; want "lockstorm-reference"`,
		`{"format":"lockstorm-reference"}`:       "it has version 0; this program reads version 1",
		head + `"weather":"fine"}`:               `unknown field "weather"`,
		head + `"rows":[{"seen":{"leash":{}}}]}`: `unknown property "leash"`,
	}
	for text, want := range cases {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "r.json"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := results.LoadReference(dir, "r.json"); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "r.json: ") {
			t.Errorf("%s: got %v, want %q", text, err, want)
		}
	}
	if _, err := results.LoadReference(t.TempDir(), "none.json"); err == nil {
		t.Error("loaded what is not there")
	}
	dir := t.TempDir()
	row := rows(t)[0]
	if err := (results.Reference{Rows: []results.Row{row, row}}).Save(dir, "twice.json"); err != nil {
		t.Fatal(err)
	}
	if _, err := results.LoadReference(dir, "twice.json"); err == nil || !strings.Contains(err.Error(), "is there twice") {
		t.Errorf("got %v", err)
	}
}
