package mutants

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// most is more runs than a hunt needs. The seed determines in which run it finds something,
// however busy the machine is.
const most = 100_000

// soon is the number of runs within which the hunt has found a mutant that a test has time for.
const soon = 10_000

// Four of the mutants that the hunt has found soon, according to its page, are hunted again,
// different ones for each commit, and each must violate a property that is named for it.
func TestFourMutants(t *testing.T) {
	commit, err := exec.Command("git", "-C", root, "rev-parse", "HEAD").Output()
	if err != nil {
		t.Log("not a checkout that git knows of: always the same four")
	}
	found := huntedRuns(t)
	known := slices.DeleteFunc(all(t), func(m Mutant) bool { runs, is := found[m.Number]; return !is || runs > soon })
	for _, m := range choose(known, 4, string(commit)) {
		t.Run(m.Number, func(t *testing.T) {
			trial, err := checkout(t).Try(t.Context(), m, Effort{Seed: 1, Runs: most}, nil)
			if err != nil {
				t.Fatal(err)
			}
			f := trial.Caught()
			if !trial.AsNamed() {
				t.Fatalf("%s: not one of %v was found to break in %d runs; the first find: %+v", m.Title, m.Names, trial.Runs, f)
			}
			t.Logf("%s: %s in run %d: %s", m.Title, f.Property.Code(), f.Run, f.Story)
		})
	}
}

// The same hunt finds nothing without a defect.
func TestControl(t *testing.T) {
	trial, err := checkout(t).Try(t.Context(), Mutant{Lock: "redlock"}, Effort{Seed: 1, Runs: 500}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if f := trial.Caught(); f != nil {
		t.Errorf("%s breaks in run %d: %s", f.Property, f.Run, f.Story)
	}
	if trial.Runs != 500 || trial.Grants == 0 {
		t.Errorf("%d runs, %d grants", trial.Runs, trial.Grants)
	}
}

// A mutant that does not compile is reported with the compiler's output.
func TestMutantThatDoesNotCompile(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	m := all(t)[0]
	m.edits = []edit{{file: m.edits[0].file, old: m.edits[0].old, new: m.edits[0].new + "\nvar x int = true\n"}}
	if _, err := checkout(t).Try(t.Context(), m, Effort{Seed: 1, Runs: most}, nil); err == nil || !strings.Contains(err.Error(), "cannot use true") {
		t.Error(err)
	}
	empty(t, temp)
}

func TestInterruptedTrial(t *testing.T) {
	for _, phase := range []string{"building", "hunting"} {
		temp := t.TempDir()
		t.Setenv("TMPDIR", temp)
		ctx, stop := context.WithCancel(t.Context())
		_, err := checkout(t).Try(ctx, Mutant{Lock: "redlock"}, Effort{Seed: 1, Budget: time.Minute}, func(what string) {
			if what == phase {
				time.AfterFunc(50*time.Millisecond, stop)
			}
		})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", phase, err)
		}
		empty(t, temp)
	}
}

// checkout also reads every directory that the hunters are built from, so that go test runs
// these tests again when one changes: the tests use the sources only through the compiler.
func checkout(t *testing.T) Checkout {
	t.Helper()
	c, err := FindCheckout(".")
	if err != nil {
		t.Fatal(err)
	}
	err = filepath.WalkDir(c.root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && slices.Contains([]string{".git", "docs", "results", "testdata"}, d.Name()):
			return fs.SkipDir
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func empty(t *testing.T, dir string) {
	t.Helper()
	left, err := os.ReadDir(dir)
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
