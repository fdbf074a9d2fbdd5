package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/internal/sweep/plots"
)

// Law: the committed pictures of sweeps are those that figures draws from the committed data.
func TestFiguresAreThoseOfTheData(t *testing.T) {
	compared := 0
	for _, pattern := range []string{"reference", "process", "campaign"} {
		dirs, err := filepath.Glob(filepath.Join("..", "..", "results", pattern, "*", "outcomes.jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range dirs {
			dir := filepath.Dir(d)
			pictures, about, err := storedPictures(dir)
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range pictures {
				want, err := plots.Encode(p.Chart, plots.SVG, plots.Screen, about)
				if err != nil {
					t.Fatal(err)
				}
				got, err := os.ReadFile(filepath.Join(dir, p.Name+".svg"))
				if err != nil || !bytes.Equal(got, want) {
					t.Errorf("%s: %s.svg is another (%v); lockstorm figures %s --format svg --out %s", dir, p.Name, err, dir, dir)
				}
				compared++
			}
		}
	}
	if compared < 20 {
		t.Errorf("only %d pictures found: this test looks in the wrong place", compared)
	}
}

// Law: figures writes what is asked for, and names what it cannot draw.
func TestFigures(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string // in the error; empty: none
	}{
		{[]string{"../../results/reference/drift", "--format", "pdf,csv", "--style", "print"}, ""},
		{[]string{"../../results/reference/drift", "--format", "eps"}, `--format: unknown format "eps"`},
		{[]string{"../../results/reference/drift", "--style", "blue"}, `--style: unknown style "blue"`},
		{[]string{"../../results/reference"}, "it is not the directory of a sweep or of advice"},
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
		files, err := os.ReadDir(out)
		if want := 8; err != nil || c.want == "" && len(files) != want || c.want != "" && len(files) > 0 {
			t.Errorf("%q: %d files (%v)", c.args, len(files), err)
		}
	}
}
