package cases_test

import (
	"bytes"
	"encoding/json"
	"go/format"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/runner/simulated"
	"github.com/lockstorm/lockstorm/internal/testkit"
	"github.com/lockstorm/lockstorm/results/cases"
)

// Law: the output of GoTest compiles, fails with the story while the property is violated, and
// passes once it holds.
func TestGoTestFailsWhileTheLockIsBroken(t *testing.T) {
	red := crashRestart()
	green := crashRestart()
	green.Scenario.Name = "crash-restart-mended"
	green.Scenario.Plan = nil
	r, err := green.Run(t.Context(), simulated.Backend(), nil)
	if err != nil {
		t.Fatal(err)
	}
	green = cases.New(r, checker.Lease)

	// As if both files had been pasted into a folder of this module that is not there.
	tmp := t.TempDir()
	pasted := map[string]string{}
	for name, c := range map[string]cases.Case{"red": red, "green": green} {
		var source bytes.Buffer
		if err := c.GoTest(&source); err != nil {
			t.Fatal(err)
		}
		if formatted, err := format.Source(source.Bytes()); err != nil || !bytes.Equal(formatted, source.Bytes()) {
			t.Errorf("what was written is not formatted: %v", err)
		}
		file := filepath.Join(tmp, name+"_test.go")
		if err := os.WriteFile(file, source.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		here, err := filepath.Abs(filepath.Join("pasted", name+"_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		pasted[here] = file
	}
	overlay, err := json.Marshal(map[string]any{"Replace": pasted})
	if err != nil {
		t.Fatal(err)
	}
	testkit.Write(t, filepath.Join(tmp, "overlay.json"), string(overlay))
	binary := filepath.Join(tmp, "pasted.test")
	build := exec.CommandContext(t.Context(), "go", "test", "-c", "-vet=off", "-o", binary, "-overlay", filepath.Join(tmp, "overlay.json"), "./pasted")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("what was written does not compile: %v\n%s", err, out)
	}
	run := exec.CommandContext(t.Context(), binary, "-test.v")
	run.Dir = tmp
	out, err := run.CombinedOutput()
	if err == nil {
		t.Error("the test of a broken lock is green")
	}
	for _, want := range []string{
		"--- FAIL: TestLeaseExclusionOfCrashRestart ",
		"--- PASS: TestLeaseExclusionOfCrashRestartMended ",
		"lease exclusion is violated: " + red.Story,
	} {
		if !strings.Contains(string(out), want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
}

func TestGoTestOfAnotherPackage(t *testing.T) {
	var source bytes.Buffer
	if err := crashRestart().GoTestIn(&source, "mine_test"); err != nil || !strings.HasPrefix(source.String(), "package mine_test\n") {
		t.Errorf("%v, %.40q", err, source.String())
	}
	if err := crashRestart().GoTestIn(&source, "not a name"); err == nil {
		t.Error("a package is called \"not a name\"")
	}
}
