//go:build linux

package cli

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// unrun are parts of commands that pages show and no test runs as they stand, with the reason.
// Their flags and arguments are parsed.
var unrun = []struct{ part, reason string }{
	{"--nats ", "needs NATS servers and credentials"},
	{"--backend ", "needs real servers; the tests with OnRealServers in their names run such commands"},
	{"lockstorm price ", "measures real servers for minutes (make price)"},
	{"lockstorm test ", "runs programs on real servers for minutes (make test-languages)"},
	{"lockstorm serve ", "ends when it is stopped, and opens a browser"},
	{"lockstorm campaign start ", "takes hours; the tests of campaigns start smaller ones"},
	{"lockstorm mutants", "takes minutes (make mutants)"},
	{"lockstorm ci --budget", "takes five minutes; the tests of ci run it with smaller budgets"},
	{"lockstorm hunt --assume promised --budget", "takes a minute; TestPageShowsWhatIsPrinted runs the other hunts"},
	{"lockstorm explore quarantine --deviations 2", "takes minutes; the tests of explorations divide smaller ones"},
}

// otherPrograms are programs that pages call besides lockstorm, with who looks after these commands.
// Those that need nothing but files are run.
var otherPrograms = map[string]string{
	"git": "needs a network", "go": "TestTestsThatPagesName, and the first run of any test",
	"kubectl": "needs a cluster", "docker": "needs an engine and a registry", "sbatch": "make test-slurm",
	"job=$(sbatch": "make test-slurm", "CGO_ENABLED=0": "builds, as make build does", "sh": "the scripts are run by make",
	"make": "TestTargetsThatPagesName",
}

// placeholders are what pages say for files of the reader's own, and what tests take for them.
var placeholders = strings.NewReplacer(
	"DIR… [--out report.html] [--details 12]", "runs/crash-restart-sim-1 --out report.html --details 12",
	"CASE.yaml", "testdata/cases/redlock-lease-crash-restart.yaml",
	"run restarts.yaml", "run delayed-restart", // which the block before has made
	"counterexamples/runs/delayed-restart-sim-1", "runs/crash-restart-sim-1",
	"./lockstorm ", "lockstorm ",
)

// Law: every command in a code block of a page is run by a test, with fewer runs where there are
// many, or unrun says why it is not. What a test does not run is at least parsed.
func TestPageCommands(t *testing.T) {
	t.Parallel()
	used := map[string]bool{}
	tested := 0
	for _, path := range commandPages(t) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, block := range commandBlocks(string(text), path) {
			tested += len(block)
			parsed, run := sortCommands(path, block, used)
			for _, c := range parsed {
				if err := parseCommand(t, c); err != nil {
					t.Errorf("%s: %q: %v", path, c, err)
				}
			}
			if len(run) == 0 {
				continue
			}
			t.Run(filepath.Base(path)+"/"+run[0], func(t *testing.T) {
				t.Parallel()
				runCommands(t, run)
			})
		}
	}
	for _, u := range unrun {
		if !used[u.part] {
			t.Errorf("no page has a command with %q any more: take it from the list", u.part)
		}
	}
	if tested < 100 {
		t.Errorf("only %d commands found: this test looks in the wrong place", tested)
	}
}

// commandPages are the pages whose commands are tested.
func commandPages(t *testing.T) (pages []string) {
	t.Helper()
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/evidence/*.md"} {
		files, err := filepath.Glob(filepath.Join("../..", pattern))
		if err != nil {
			t.Fatal(err)
		}
		pages = append(pages, files...)
	}
	return pages
}

// isEvidence tells pages that commands of make write, from commands that take minutes to days.
func isEvidence(path string) bool { return strings.Contains(path, "docs/evidence/") }

// commandBlocks returns the commands of each code block of a page, without blocks that
// TestPageShowsWhatIsPrinted runs.
func commandBlocks(page, path string) (all [][]string) {
	var shown []string
	if !isEvidence(path) {
		for _, block := range blocks(page) {
			for _, s := range block {
				shown = append(shown, s.command)
			}
		}
	}
	for i, part := range strings.Split(page, "\n```") {
		if i%2 == 0 {
			continue
		}
		if block := commandsOf(part, shown); len(block) > 0 {
			all = append(all, block)
		}
	}
	return all
}

// commandsOf returns the commands of a code block: the lines behind a prompt or, in a block
// without prompts, those that call lockstorm. It returns none if all are among those run elsewhere;
// otherwise all, because they build on each other.
func commandsOf(block string, elsewhere []string) (commands []string) {
	left := false
	prompts := strings.Contains(block, "\n$ ")
	for line := range strings.Lines(block) {
		command, prompted := strings.CutPrefix(strings.TrimSpace(line), "$ ")
		calls := strings.HasPrefix(command, "lockstorm ") || strings.HasPrefix(command, "./lockstorm ")
		if prompted || !prompts && calls {
			commands = append(commands, command)
			left = left || !slices.Contains(elsewhere, command)
		}
	}
	if !left {
		return nil
	}
	return commands
}

// sortCommands divides the commands of a block into those that are parsed only, and those that are
// run.
func sortCommands(path string, block []string, used map[string]bool) (parsed, run []string) {
	for _, command := range block {
		if program, _, _ := strings.Cut(command, " "); otherPrograms[program] != "" {
			continue
		}
		command = placeholders.Replace(command)
		only := isEvidence(path)
		for _, u := range unrun {
			if strings.Contains(command+" ", u.part) {
				used[u.part], only = true, true
			}
		}
		if only {
			parsed = append(parsed, command)
		} else {
			run = append(run, command)
		}
	}
	return parsed, run
}

// parseCommand lets the shell divide a command into arguments, and the program parse them.
func parseCommand(t *testing.T, command string) error {
	t.Helper()
	dir := t.TempDir()
	cmd := exec.CommandContext(t.Context(), "sh", "-c", `lockstorm() { printf '%s\0' "$@" >arguments; }; `+command)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "BUILD_NUMBER=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		return errors.New(string(out) + err.Error())
	}
	text, err := os.ReadFile(filepath.Join(dir, "arguments"))
	if err != nil {
		return nil // a program of others within sh -c
	}
	sub, rest, err := newRoot().Find(strings.Split(strings.TrimSuffix(string(text), "\x00"), "\x00"))
	if err != nil {
		return err
	}
	if err := sub.ParseFlags(rest); err != nil {
		return err
	}
	return sub.ValidateArgs(sub.Flags().Args())
}

// runCommands runs the commands of a block in one directory, with few runs.
func runCommands(t *testing.T, commands []string) {
	t.Helper()
	dir := scene(t)
	if err := os.Symlink(filepath.Join(sources, "results"), filepath.Join(dir, "results")); err != nil {
		t.Fatal(err)
	}
	history, err := os.ReadFile(filepath.Join(sources, "docs/two-holders.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "history.jsonl"), history, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, command := range append([]string{"lockstorm run crash-restart --seed 1"}, commands...) {
		out, code := session(t, dir, few(command))
		if code != exitAsExpected && code != exitContradiction && code != exitUndecided { // few runs decide little
			t.Errorf("%q ends with %d:\n%s", few(command), code, out)
		}
	}
}

// session runs a command in a directory, in which lockstorm is this program.
func session(t *testing.T, dir, command string) (out string, code int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "sh", "-c", command)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), asCommand+"=1", "GITHUB_ACTIONS=", "GITHUB_STEP_SUMMARY=", "PATH="+dir+":"+os.Getenv("PATH"))
	text, err := cmd.CombinedOutput()
	if exit := new(exec.ExitError); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return string(text), cmd.ProcessState.ExitCode()
}

var (
	runs    = regexp.MustCompile(`--runs (\d+)`)
	batches = regexp.MustCompile(`^lockstorm (debate|compare)\b`)
)

// few has a command make at most 20 runs, and 2 of each row where it would run many rows.
func few(command string) string {
	command = runs.ReplaceAllStringFunc(command, func(flag string) string {
		n, _ := strconv.Atoi(runs.FindStringSubmatch(flag)[1])
		return "--runs " + strconv.Itoa(min(n, 20))
	})
	if !runs.MatchString(command) && !strings.Contains(command, "--from") {
		command = batches.ReplaceAllString(command, "$0 --runs 2")
	}
	return command
}

func TestFewRuns(t *testing.T) {
	for given, wanted := range map[string]string{
		"lockstorm debate":                            "lockstorm debate --runs 2",
		"lockstorm run calm --runs 1000 --out x":      "lockstorm run calm --runs 20 --out x",
		"lockstorm debate calm --runs 7 # seven each": "lockstorm debate calm --runs 7 # seven each",
	} {
		want(t, given, few(given), wanted)
	}
}
