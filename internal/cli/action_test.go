//go:build linux

package cli

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"go.yaml.in/yaml/v3"
)

// step is one of an action, or of a job.
type step struct {
	ID   string            `yaml:"id"`
	Uses string            `yaml:"uses"`
	Run  string            `yaml:"run"`
	If   string            `yaml:"if"`
	Env  map[string]string `yaml:"env"`
	With map[string]any    `yaml:"with"`
}

// action is what this project's action.yml holds.
type action struct {
	Inputs map[string]struct {
		Description string
		Default     *string
	}
	Runs struct{ Steps []step }
}

// readYAML reads a file of the project, as text and as what it holds.
func readYAML(t *testing.T, path string, into any) (text string) {
	t.Helper()
	bytes, err := os.ReadFile(filepath.Join(sources, path))
	if err == nil {
		err = yaml.Unmarshal(bytes, into)
	}
	if err != nil {
		t.Fatal(err)
	}
	return string(bytes)
}

func readAction(t *testing.T) (a action) {
	t.Helper()
	readYAML(t, "action.yml", &a)
	return a
}

// foundIn are the names that a pattern finds in a text, each once, sorted.
func foundIn(text, pattern string) (names []string) {
	for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(text, -1) {
		names = append(names, m[1])
	}
	slices.Sort(names)
	return slices.Compact(names)
}

const (
	inputIn   = `inputs\.([\w-]+)`
	contextIn = `((?:github|runner)\.\w+)`
)

// expression is one of GitHub's in a text.
var expression = regexp.MustCompile(`\$\{\{ (.*?) \}\}`)

// step runs a step of the action as GitHub does, with some inputs, contexts such as runner.temp, and
// environment variables. Contexts that are not given are empty.
func (a action) step(t *testing.T, id string, given, contexts map[string]string, env ...string) (out string, err error) {
	t.Helper()
	i := slices.IndexFunc(a.Runs.Steps, func(s step) bool { return s.ID == id })
	if i < 0 {
		t.Fatalf("the action has no step %s", id)
	}
	s := a.Runs.Steps[i]
	cmd := exec.CommandContext(t.Context(), "bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", s.Run)
	cmd.Env = os.Environ()
	for name, text := range s.Env {
		cmd.Env = append(cmd.Env, name+"="+expression.ReplaceAllStringFunc(text, func(e string) string { return a.valueOf(e, given, contexts) }))
	}
	cmd.Env = append(cmd.Env, env...)
	text, err := cmd.CombinedOutput()
	return string(text), err
}

// valueOf returns the value of an expression: of its input, or else of its context.
func (a action) valueOf(e string, given, contexts map[string]string) string {
	for _, input := range foundIn(e, inputIn) {
		if in, ok := given[input]; ok {
			return in
		}
		if d := *a.Inputs[input].Default; d != "" {
			return d
		}
	}
	for _, context := range foundIn(e, contextIn) {
		return contexts[context]
	}
	return ""
}

// runs runs the step of the action that runs Lockstorm, with some inputs. It returns what the step has
// said of its exit code, and whether it was green.
func (a action) runs(t *testing.T, given map[string]string) (said string, green bool) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	out, err := a.step(t, "ci", given, map[string]string{"github.run_number": "17"},
		"LOCKSTORM="+self, asCommand+"=1", "GITHUB_OUTPUT=output.txt", "GITHUB_ACTIONS=true", "GITHUB_STEP_SUMMARY=summary.md")
	text, outputErr := os.ReadFile("output.txt")
	if outputErr != nil {
		t.Fatalf("%v, %v: %s", outputErr, err, out)
	}
	if err := os.Remove("output.txt"); err != nil {
		t.Fatal(err)
	}
	return string(text), err == nil
}

// Law: the action's script runs ci with what it is given, and ends as that does.
func TestActionRuns(t *testing.T) {
	elsewhere(t)
	a := readAction(t)
	file := tooSoon(t)
	savedCaseHere(t, "", "")
	for _, c := range []struct {
		given  map[string]string
		code   string
		checks int
	}{
		{map[string]string{"suite": "cases,hunt", "args": "calm", "runs": "3", "budget": "3s"}, "0", 3},
		{map[string]string{"args": "calm " + file, "runs": "2"}, "1", 2},
		{map[string]string{"suite": "cases", "program": "\nno-such-program --flag\n"}, "2", 2},
		{map[string]string{"budget": "never"}, "2", 0},
	} {
		said, green := a.runs(t, c.given)
		want(t, fmt.Sprint("the code of ", c.given), said, "code="+c.code+"\n")
		want(t, "green", green, c.code == "0")
		if c.checks > 0 {
			want(t, fmt.Sprint("checks of ", c.given), len(readJUnit(t, "lockstorm-ci/junit.xml")), c.checks)
		}
	}
}
