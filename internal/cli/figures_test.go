package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/internal/report"
	"github.com/lockstorm/lockstorm/internal/sweep"
	"github.com/lockstorm/lockstorm/internal/testkit"
	"github.com/lockstorm/lockstorm/results"
)

// Law: the committed tables, pictures and summaries of sweeps are those of the committed data.
func TestEachStoredSweepIsCurrent(t *testing.T) {
	compared := 0
	for _, pattern := range []string{"reference", "process", "campaign"} {
		dirs, err := filepath.Glob(filepath.Join("..", "..", "results", pattern, "*", sweep.OutcomesFile))
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range dirs {
			stored, made := filepath.Dir(d), t.TempDir()
			r, err := sweep.Load(stored)
			if err == nil {
				err = saveSweep(made, r, new(bytes.Buffer))
			}
			if err != nil {
				t.Fatal(err)
			}
			for _, pattern := range []string{"*.svg", "*.csv", sweep.SummaryFile} {
				files, err := filepath.Glob(filepath.Join(made, pattern))
				if err != nil || len(files) == 0 {
					t.Fatalf("%s: no %s (%v)", stored, pattern, err)
				}
				for _, f := range files {
					text, err := os.ReadFile(f)
					if err != nil {
						t.Fatal(err)
					}
					testkit.GoldenFile(t, filepath.Join(stored, filepath.Base(f)), string(text), "The stored data give another file.")
					compared++
				}
			}
		}
	}
	if compared < 40 {
		t.Errorf("only %d files found: this test looks in the wrong place", compared)
	}
}

// Law: the page of measurements has the main lines of the committed summaries.
func TestPageOfMeasurementsIsCurrent(t *testing.T) {
	const path = "../../docs/evidence/measurements.md"
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	sections := regexp.MustCompile(`(?s)(<!-- ((?:reference|process)/[a-z-]+) -->\n[^\n]*\n\n)(.*?)(<!-- /)`)
	shown := 0
	renewed := sections.ReplaceAllStringFunc(string(page), func(section string) string {
		m := sections.FindStringSubmatch(section)
		r, err := sweep.Load(filepath.Join("..", "..", "results", filepath.FromSlash(m[2])))
		if err != nil {
			t.Fatal(err)
		}
		shown++
		var lines strings.Builder
		for _, l := range report.CampaignLines(r) {
			lines.WriteString("- " + l + "\n")
		}
		return m[1] + lines.String() + m[4]
	})
	if shown < 5 {
		t.Errorf("the page shows %d sweeps", shown)
	}
	testkit.GoldenFile(t, path, renewed, "The stored data give other lines.")
}

// Law: figures writes what is asked for, and names what it cannot draw.
func TestFigures(t *testing.T) {
	const reference = "../../results/reference"
	compared := t.TempDir()
	stored, err := results.LoadReference(reference, results.CompareFile)
	if err == nil {
		err = stored.Save(compared, results.CompareFile)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args  []string
		files int
		want  string // in the error; empty: none
	}{
		{[]string{reference + "/drift", "--format", "pdf,csv", "--style", "print"}, 8, ""},
		{[]string{reference + "/drift", "--format", "pdf", "--width", "column"}, 4, ""},
		{[]string{reference, "--format", "csv"}, 7, ""}, // five series, and two tables
		{[]string{reference, "--format", "pdf"}, 5, ""},
		{[]string{compared, "--format", "csv"}, 1, ""},
		{[]string{compared, "--format", "pdf"}, 0, compared + ": only tables (compare): want --format csv"},
		{[]string{reference + "/drift", "--format", "eps"}, 0, `--format: unknown format "eps"`},
		{[]string{reference + "/drift", "--style", "blue"}, 0, `--style: unknown style "blue"`},
		{[]string{reference + "/drift", "--width", "85"}, 0, "--width: width 85 has no unit: did you mean 85mm?"},
		{[]string{reference + "/drift", "--width", "85 cm"}, 0, `--width: invalid width "85 cm": want column (84 mm)`},
		{[]string{reference + "/drift", "--title", "none", "--only", "drift-the-nodes-clocks-are-fast", "--format", "pdf"}, 1, ""},
		{[]string{reference, "--only", "debate", "--format", "csv"}, 1, ""},
		{[]string{reference, "--only", "debate", "--format", "pdf"}, 0, "only tables (debate): want --format csv"},
		{[]string{reference + "/drift-edge", "--only", "drift"}, 0, `--only: no figure "drift": want one of drift-edge`},
		{[]string{reference + "/drift", reference + "/drift-edge", "--only", "drift-edge", "--format", "svg"}, 1, ""},
		{[]string{reference + "/drift", "--title", "below"}, 0, `--title: unknown place "below": want above or none`},
		{[]string{reference + "/nosuch"}, 0, "nosuch does not exist"},
		{[]string{reference + "/drift/points.csv"}, 0, "points.csv is a file: want the directory of the results, as " + filepath.FromSlash(reference+"/drift")},
		{[]string{"../../results"}, 0, "it is not the directory of a sweep, of advice, or of a debate or comparison"},
	} {
		out := t.TempDir()
		cmd := newFigures()
		cmd.SilenceErrors, cmd.SilenceUsage = true, true
		cmd.SetOut(new(bytes.Buffer))
		cmd.SetErr(new(bytes.Buffer))
		cmd.SetArgs(append(c.args, "--out", out))
		err := cmd.Execute()
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v; want %q", c.args, err, c.want)
		}
		if files, err := os.ReadDir(out); err != nil || len(files) != c.files {
			t.Errorf("%q: %d files (%v), want %d", c.args, len(files), err, c.files)
		}
	}
}
