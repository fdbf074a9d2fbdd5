//go:build linux

package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
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
	Outputs map[string]struct{ Description, Value string }
	Runs    struct {
		Using string
		Steps []step
	}
}

// readYAML reads a file of the project, as text and as what it holds.
func readYAML(t *testing.T, path string, into any) (text string) {
	t.Helper()
	bytes, err := os.ReadFile(filepath.Join(sources, filepath.FromSlash(path)))
	if err == nil {
		err = yaml.Unmarshal(bytes, into)
	}
	if err != nil {
		t.Fatal(err)
	}
	return string(bytes)
}

func readAction(t *testing.T) (a action, text string) {
	t.Helper()
	text = readYAML(t, "action.yml", &a)
	return a, text
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
	outputIn  = `steps\.([\w-]+\.outputs\.[\w-]+)`
	flagIn    = `[ (]--([a-z-]+)`
)

// Law: the action uses the inputs that it has and no others, sets the outputs that it has,
// and passes flags that ci has.
func TestActionFitsTheCommand(t *testing.T) {
	a, text := readAction(t)
	var inputs []string
	for name, in := range a.Inputs {
		inputs = append(inputs, name)
		if in.Description == "" || in.Default == nil {
			t.Errorf("input %s: want a description and a default", name)
		}
	}
	slices.Sort(inputs)
	want(t, "the inputs that are used", strings.Join(foundIn(text, inputIn), " "), strings.Join(inputs, " "))
	want(t, "how it runs", a.Runs.Using, "composite")
	for name, out := range a.Outputs {
		list := foundIn(out.Value, outputIn)
		if len(list) != 1 {
			t.Fatalf("output %s: %q", name, out.Value)
		}
		of, what, _ := strings.Cut(list[0], ".outputs.")
		i := slices.IndexFunc(a.Runs.Steps, func(s step) bool { return s.ID == of })
		if i < 0 || !strings.Contains(a.Runs.Steps[i].Run, `echo "`+what+`=`) {
			t.Errorf("output %s: no step %s sets %s", name, of, what)
		}
	}
	flags, ci := 0, newCI()
	for _, s := range a.Runs.Steps {
		if s.ID != "ci" {
			continue
		}
		for _, flag := range foundIn(s.Run, flagIn) {
			flags++
			if ci.Flags().Lookup(flag) == nil {
				t.Errorf("lockstorm ci has no flag --%s", flag)
			}
		}
	}
	if flags < 10 {
		t.Errorf("only %d flags found: this test looks in the wrong place", flags)
	}
}

// Law: workflows and pages give the action inputs that it has, and pin what they use of
// others to a major version.
func TestActionIsUsedAsItIs(t *testing.T) {
	a, _ := readAction(t)
	var workflow struct {
		Jobs map[string]struct{ Steps []step }
	}
	readYAML(t, ".github/workflows/ci.yml", &workflow)
	steps, used := slices.Clone(a.Runs.Steps), 0
	for _, job := range workflow.Jobs {
		steps = append(steps, job.Steps...)
	}
	for _, page := range []string{"docs/test-your-lock.md"} {
		steps = append(steps, stepsOn(t, page)...)
	}
	pinned := regexp.MustCompile(`^[\w-]+/[\w-]+@v\d+$`)
	for _, s := range steps {
		switch {
		case s.Uses == "":
		case s.Uses == "./", strings.HasPrefix(s.Uses, "lockstorm/lockstorm@"):
			used++
			for name := range s.With {
				if _, ok := a.Inputs[name]; !ok {
					t.Errorf("uses: %s: the action has no input %s", s.Uses, name)
				}
			}
		case !pinned.MatchString(s.Uses):
			t.Errorf("uses: %s: want a major version", s.Uses)
		}
	}
	if used < 3 {
		t.Errorf("the action is used %d times: this test looks in the wrong place", used)
	}
}

// stepsOn are the steps that a page shows in YAML.
func stepsOn(t *testing.T, page string) (steps []step) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(sources, page))
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range strings.Split(string(text), "\n```yaml\n")[1:] {
		block, _, _ := strings.Cut(part, "\n```")
		var root yaml.Node
		if err := yaml.Unmarshal([]byte(block), &root); err != nil {
			t.Errorf("%s: %v in\n%s", page, err, block)
			continue
		}
		steps = append(steps, stepsIn(&root)...)
	}
	return steps
}

// stepsIn are the steps somewhere in YAML.
func stepsIn(n *yaml.Node) (steps []step) {
	for i, c := range n.Content {
		if n.Kind == yaml.MappingNode && i%2 == 1 && n.Content[i-1].Value == "steps" {
			var some []step
			if c.Decode(&some) == nil {
				steps = append(steps, some...)
			}
		}
		steps = append(steps, stepsIn(c)...)
	}
	return steps
}

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
		"LOCKSTORM="+self, asCommand+"=1", "GITHUB_OUTPUT=output.txt", onGitHub+"=true", gitHubSummary+"=summary.md")
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
	a, _ := readAction(t)
	file := tooSoon(t)
	savedCaseHere(t, "", "")
	said, green := a.runs(t, map[string]string{"suites": strings.Join(allSuites, ","), "rows": "calm", "runs": "3", "cases": usualCases, "lock": "single-node", "assume": promisedWord, "hunt-runs": "100", "budget": "1h"})
	want(t, "what it says where all is well", said, "code=0\n")
	want(t, "green", green, true)
	_, byName := readJUnit(t, "lockstorm-ci/junit.xml")
	want(t, "checks", len(byName), 11)

	said, green = a.runs(t, map[string]string{"suites": "cases,debate", "rows": file, "runs": "2"})
	want(t, "what it says of a lock that breaks", said, "code=1\n")
	want(t, "green", green, false)
	if _, err := os.Stat("lockstorm-ci/counterexamples/runs/delayed-restart-sim-1/history.jsonl"); err != nil {
		t.Error(err)
	}
	said, green = a.runs(t, map[string]string{"budget": "never"})
	want(t, "what it says of bad input", said, "code=2\n")
	want(t, "green", green, false)
}
