package mutants

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	// What the hunters are made of, so that go test runs these tests again when it has
	// changed.
	_ "github.com/lockstorm/lockstorm/hunt"
	_ "github.com/lockstorm/lockstorm/storm/simulated"
)

// budget is more than a hunt needs, however busy the machine: a hunt follows from its
// seed, and finds what it finds in the same run.
const budget = 3 * time.Minute

// Four of the mutants are hunted, others with each commit, and each must be caught by a
// property that the catalogue names.
func TestFourMutants(t *testing.T) {
	commit, err := exec.Command("git", "-C", root, "rev-parse", "HEAD").Output()
	if err != nil {
		t.Log("not a checkout that git knows of: always the same four")
	}
	for _, m := range Choose(all(t), 4, string(commit)) {
		t.Run(m.Number, func(t *testing.T) {
			trial, err := checkout(t).Try(t.Context(), m, 1, budget, nil)
			if err != nil {
				t.Fatal(err)
			}
			if trial.Report.Named == nil {
				t.Fatalf("%s: not one of %v was found to break in %d runs; the first find: %+v", m.Title, m.Names, trial.Runs, trial.First)
			}
			t.Logf("%s: %s in run %d: %s", m.Title, trial.Report.Named.Property.Code(), trial.Report.Named.Run, trial.Report.Named.Story)
		})
	}
}

// The same hunt finds nothing where there is no defect.
func TestControl(t *testing.T) {
	trial, err := checkout(t).Control(t.Context(), "redlock", 1, budget, 500, nil)
	if err != nil {
		t.Fatal(err)
	}
	if trial.First != nil {
		t.Errorf("%s breaks in run %d: %s", trial.First.Property, trial.First.Run, trial.First.Story)
	}
	if trial.Runs != 500 || trial.Grants == 0 {
		t.Errorf("%d runs, %d grants", trial.Runs, trial.Grants)
	}
}

// What does not compile is told with what the compiler says.
func TestMutantThatDoesNotCompile(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	m := all(t)[0]
	m.edits = []edit{{file: m.edits[0].file, old: m.edits[0].old, new: m.edits[0].new + "\nvar x int = true\n"}}
	if _, err := checkout(t).Try(t.Context(), m, 1, budget, nil); err == nil || !strings.Contains(err.Error(), "cannot use true") {
		t.Error(err)
	}
	empty(t, temp)
}

func TestInterruptedTrial(t *testing.T) {
	for _, phase := range []string{"building", "hunting"} {
		temp := t.TempDir()
		t.Setenv("TMPDIR", temp)
		ctx, stop := context.WithCancel(t.Context())
		_, err := checkout(t).Control(ctx, "redlock", 1, budget, 0, func(what string) {
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

func checkout(t *testing.T) Checkout {
	t.Helper()
	c, err := FindCheckout(".")
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
