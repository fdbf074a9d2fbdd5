package cases_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/cases"
	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/runner/simulated"
	"github.com/lockstorm/lockstorm/internal/testkit"
)

// saved are the cases of this project.
const saved = "../testdata/cases"

func savedCases(t *testing.T) []string {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(saved, "*"+cases.Extension))
	if err != nil || len(all) == 0 {
		t.Fatalf("%d cases in %s, %v", len(all), saved, err)
	}
	return all
}

// Law: every saved case still shows what it says, in the same run and in the same words.
// What bless renews is the run and the words; a verdict that is another is a failure.
func TestGoldenCases(t *testing.T) {
	for _, path := range savedCases(t) {
		t.Run(strings.TrimSuffix(filepath.Base(path), cases.Extension), func(t *testing.T) {
			c, err := cases.Load(path)
			if err != nil {
				t.Fatal(err)
			}
			r, err := c.Run(t.Context(), simulated.Backend(), nil)
			if err != nil {
				t.Fatal(err)
			}
			if c.Judge(r) != runner.AsExpected {
				f := r.Report.Finding(c.Property)
				t.Fatalf("%s is %v, and the case says %v: %s\nlockstorm replay --trace %s tells it step by step.", f.Property.Title(), f.Verdict, c.Shows, f.Story(), path)
			}
			if runtime.GOARCH != "amd64" {
				t.Skip("the traces are those of amd64: floating point may differ between architectures")
			}
			now := cases.New(r, c.Property)
			now.Notes = c.Notes
			testkit.GoldenFile(t, path, written(t, now), "The case still shows what it says, and it is another run now, or told in other words.")
		})
	}
}

// Law: a case that guards against a defect says so in its notes, and the track record
// names every one of them.
func TestTrackRecordNamesTheDefects(t *testing.T) {
	record, err := os.ReadFile("../docs/evidence/track-record.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range savedCases(t) {
		c, err := cases.Load(path)
		if err != nil {
			t.Fatal(err)
		}
		if c.Notes == "" {
			t.Errorf("%s has no notes: where does it come from?", path)
		}
		name := "testdata/cases/" + filepath.Base(path)
		if c.Shows == checker.Holds && !strings.Contains(string(record), name) {
			t.Errorf("%s guards against a defect that docs/evidence/track-record.md does not name", name)
		}
	}
}
