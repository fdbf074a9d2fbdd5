//go:build linux

package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"go.yaml.in/yaml/v3"
)

// Law: the script of action.yml runs ci with its inputs, and ends as that does.
func TestActionRuns(t *testing.T) {
	elsewhere(t)
	var action struct {
		Runs struct {
			Steps []struct {
				ID, Run string
				Env     map[string]string
			}
		}
	}
	if err := yaml.Unmarshal([]byte(read(t, filepath.Join(sources, "action.yml"))), &action); err != nil {
		t.Fatal(err)
	}
	file := tooSoon(t)
	savedCaseHere(t, "", "")
	for _, s := range action.Runs.Steps {
		if s.ID != "ci" {
			continue
		}
		for _, c := range []struct {
			inputs map[string]string
			code   string
			checks int
		}{
			{map[string]string{"SUITE": "cases", "ARGS": "calm", "RUNS": "3"}, "0", 2},
			{map[string]string{"ARGS": "calm " + file, "RUNS": "2"}, "1", 2},
			{map[string]string{"SUITE": "cases", "PROGRAM": "\nno-such-program --flag\n"}, "2", 2},
			{map[string]string{"BUDGET": "never"}, "2", 0},
		} {
			cmd := exec.CommandContext(t.Context(), "bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", s.Run)
			cmd.Env = append(os.Environ(), asCommand+"=1", "GITHUB_OUTPUT=output.txt", "GITHUB_ACTIONS=true", "GITHUB_STEP_SUMMARY=summary.md",
				"LOCKSTORM="+os.Args[0], "BUDGET=1m", "SEED=17", "JUNIT=junit.xml", "OUT=out")
			for name := range s.Env {
				if value, given := c.inputs[name]; given || os.Getenv(name) != "" {
					cmd.Env = append(cmd.Env, name+"="+value)
				}
			}
			_ = os.Remove("output.txt")
			out, err := cmd.CombinedOutput()
			want(t, "the code that is told", read(t, "output.txt"), "code="+c.code+"\n")
			want(t, "green", err == nil, c.code == "0")
			if c.checks > 0 {
				want(t, "checks in "+string(out), len(readJUnit(t, "junit.xml")), c.checks)
			}
		}
		return
	}
	t.Error("the action has no step ci")
}
