package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/terminal"
	"github.com/lockstorm/lockstorm/results"
	"github.com/lockstorm/lockstorm/scenarios"
)

// asCommand makes the test binary the command itself.
const asCommand = "LOCKSTORM_TEST_COMMAND"

func TestMain(m *testing.M) {
	beClient()
	beFakeClient()
	if os.Getenv(asCommand) != "" {
		if terminal.Look(os.Stderr, os.Getenv).Kept {
			stderr = struct{ io.Writer }{os.Stderr} // lines of progress would come only on a slow machine
		}
		Main()
	}
	os.Exit(m.Run())
}

// command runs a command line and returns what it printed.
func command(t *testing.T, args ...string) (code int, out, problems string) {
	t.Helper()
	var o, p bytes.Buffer
	code = execute(context.Background(), args, strings.NewReader(""), &o, &p)
	return code, o.String(), p.String()
}

func want(t *testing.T, what string, got, want any) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

func wantIn(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !strings.Contains(text, p) {
			t.Errorf("no %q in:\n%s", p, text)
		}
	}
}

// wantMatch wants a text to have a part that a regular expression describes.
func wantMatch(t *testing.T, text, expression string) {
	t.Helper()
	if !regexp.MustCompile(expression).MatchString(text) {
		t.Errorf("nothing is like %s in:\n%s", expression, text)
	}
}

// wantNarrow wants no line to be wider than a terminal.
func wantNarrow(t *testing.T, text string) {
	t.Helper()
	for l := range strings.Lines(text) {
		if n := utf8.RuneCountInString(strings.TrimSuffix(l, "\n")); n > terminal.Unwatched {
			t.Errorf("%d characters wide: %s", n, l)
		}
	}
}

// verdictsLike is like the verdicts on all properties, of which these are stated, as in
// "V1✗ V2✗"; the others are there, whatever they are.
func verdictsLike(stated string) string {
	var all []string
	for _, p := range checker.Properties() {
		one := p.Code() + `[✓✗?·]\S*`
		for _, s := range strings.Fields(stated) {
			if code, _, _ := strings.Cut(s, "("); strings.TrimRight(code, "✓✗?·") == p.Code() {
				one = regexp.QuoteMeta(s)
			}
		}
		all = append(all, one)
	}
	return strings.Join(all, " ")
}

// The table shows each row's verdicts with their intervals. (The tests of internal/runner run the
// whole debate.)
func TestDebateTable(t *testing.T) {
	code, out, _ := command(t, "debate", "crash-restart", "pause-then-write", "--runs", "20")
	want(t, "exit code", code, exitAsExpected)
	wantIn(t, out,
		"crash-restart", "so are all leases",
		"crash-restart     V1 V2 V3  20/20  100 %  [83.9, 100]\n", "No violation in 20 runs is [0, 16.1].")
	wantMatch(t, out, verdictsLike("V1✗ V2✗ V3✗ V4· L1✓ L2· L3✓ C✓")+`  20/20  1\n`)
	wantMatch(t, out, verdictsLike("V1✓ V2✗ V3✗"))
}

func TestRunStoresWhatCheckJudges(t *testing.T) {
	dir := t.TempDir()
	code, out, _ := command(t, "run", "crash-restart", "--seed", "3", "--out", dir)
	want(t, "exit code", code, exitAsExpected)
	stored := filepath.Join(dir, "crash-restart-sim-3")
	wantIn(t, out, "lease exclusion violated (seed 3):\n  nodes 4 and 5 are cut off, from client 1 at 0s;\n  client 1 was granted",
		" and is back without its keys at once;\n  client 2 was granted", "stored in "+stored, "\nWith --trace: ")
	if n := strings.Count(out, "What helps: Keep every write on disk"); n != 1 {
		t.Errorf("%d times it says what helps against the assumption that three properties broke, in:\n%s", n, out)
	}

	code, again, _ := command(t, "check", stored)
	want(t, "exit code of check", code, exitAsExpected)
	out = regexp.MustCompile(`\nSEED .*\n.*\nWith .*\n`).ReplaceAllString(out, "") // how to repeat it
	if before, _, _ := strings.Cut(out, "\nstored in"); before != again {
		t.Errorf("run said\n%s\ncheck said\n%s", before, again)
	}

	code, _, _ = command(t, "check", filepath.Join(stored, "history.jsonl"))
	want(t, "a bare history expects nothing, so a violation is a surprise", code, exitContradiction)

	code, _, _ = command(t, "run", "crash-restart", "--seed", "3", "--out", dir)
	want(t, "exit code of a repetition", code, exitAsExpected)
	if _, err := os.Stat(stored + ".2"); err != nil {
		t.Errorf("the first run was written over: %v", err)
	}
}

func TestCheckFindsVerdictsThatDiffer(t *testing.T) {
	dir := t.TempDir()
	command(t, "run", "calm", "--out", dir)
	file := filepath.Join(dir, "calm-sim-1", "run.json")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	forged := strings.Replace(string(text), `"verdicts": {
    "lease": "holds"`, `"verdicts": {
    "lease": "violated"`, 1)
	if forged == string(text) {
		t.Fatalf("nothing to forge in\n%s", text)
	}
	if err := os.WriteFile(file, []byte(forged), 0o644); err != nil {
		t.Fatal(err)
	}
	code, out, _ := command(t, "check", filepath.Dir(file))
	want(t, "exit code", code, exitContradiction)
	wantIn(t, out, "The stored verdicts differ: [lease was violated]")
}

func TestJSONPrintsAnObjectARunAndNothingElse(t *testing.T) {
	scenario, err := scenarios.Find("pause-then-write")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	code, out, problems := command(t, "run", scenario.Name, "--json", "--runs", "3", "--out", dir)
	want(t, "exit code", code, exitAsExpected)
	want(t, "on stderr", problems, "")
	lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
	want(t, "lines", len(lines), 3)
	for i, l := range lines {
		var o struct {
			Scenario   string            `json:"scenario"`
			Backend    string            `json:"backend"`
			Seed       int               `json:"seed"`
			Verdicts   map[string]string `json:"verdicts"`
			Expected   map[string]string `json:"expected"`
			AsExpected bool              `json:"as_expected"`
			Grants     int               `json:"grants"`
			Measured   map[string]any    `json:"measurements"`
			TraceHash  string            `json:"trace_hash"`
			Dir        string            `json:"dir"`
			Replay     string            `json:"replay"`
		}
		dec := json.NewDecoder(strings.NewReader(l))
		dec.DisallowUnknownFields()
		if err := dec.Decode(&o); err != nil {
			t.Fatal(err)
		}
		want(t, "scenario", o.Scenario, scenario.Name)
		want(t, "backend", o.Backend, "sim")
		want(t, "seed", o.Seed, i+1)
		want(t, "as expected", o.AsExpected, true)
		want(t, "grants as measured", o.Measured["grants"], any(float64(o.Grants)))
		want(t, "grants", o.Grants, 2)
		want(t, "length of the trace hash", len(o.TraceHash), 16)
		want(t, "verdicts", len(o.Verdicts), len(checker.Properties()))
		want(t, "verdicts expected", len(o.Expected), len(scenario.Expect))
		for _, m := range []map[string]string{o.Verdicts, o.Expected} {
			want(t, "lease", m["lease"], "holds")
			want(t, "effect", m["effect"], "violated")
			want(t, "cleanup", m["cleanup"], "holds")
		}
		if _, err := os.Stat(filepath.Join(o.Dir, "history.jsonl")); err != nil {
			t.Error(err)
		}
	}
}

// spins is a scenario whose clients try again and again while no time passes.
const spins = `name: spins
lock: {kind: redlock, ttl: 1s, drift_factor: 0.01, node_timeout: 50ms, linger: 200ms, margin: 50ms, retry: {min: 0s, max: 0s}}
clients: [{workload: hold, resource: r, rounds: 1, start: {min: 10ms, max: 10ms}}]
nodes: 1
persistence: none
latency: {min: 0s, max: 0s}
horizon: 5s
plan: [{crash: {node: 1}, start: {at: 5ms}}]
expect: {contract: holds}
`

// A world that cannot go on leaves everything open, and says once why.
func TestNoProgressIsUnknown(t *testing.T) {
	file := filepath.Join(t.TempDir(), "spins.yaml")
	if err := os.WriteFile(file, []byte(spins), 0o644); err != nil {
		t.Fatal(err)
	}
	const why = "no progress: time does not move: client 1 spins at 10ms, with more than 12000 calls at this instant: client 1, main: "
	code, out, problems := command(t, "run", file, "--out", "")
	want(t, "exit code", code, exitUndecided)
	want(t, "on stderr", problems, "")
	wantIn(t, out, "spins: undecided", "\nCut short (seed 1): "+why)
	want(t, "times that the reason is told", strings.Count(out, "no progress"), 1)
}

func TestRunFile(t *testing.T) {
	dir := t.TempDir()
	_, text, _ := command(t, "list", "delayed-restart")
	file := filepath.Join(dir, "mine.yaml")
	write := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write(text)
	code, _, _ := command(t, "run", file, "--out", dir)
	want(t, "exit code", code, exitAsExpected)

	write(strings.Replace(text, "after: 1.1s", "after: 0s", 1))
	code, out, _ := command(t, "run", file, "--out", dir)
	want(t, "exit code without the delay", code, exitContradiction)
	wantIn(t, out, "contradiction", "lease exclusion violated")

	write(strings.Replace(text, "node: 3", "node: 7", 1))
	code, _, problems := command(t, "run", file, "--out", dir)
	want(t, "exit code", code, exitBadInput)
	wantIn(t, problems, "lockstorm: "+file+": line ", "plan[1].crash.node: there is no node 7")

	write(strings.Replace(text, "workload: section", "workload: singing", 1))
	code, _, problems = command(t, "run", file, "--out", dir)
	want(t, "exit code", code, exitBadInput)
	wantIn(t, problems, "lockstorm: "+file+": line ", `clients[0].workload: unknown workload "singing"`)
}

func TestBadInput(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	command(t, "run", "calm", "--out", dir)
	spoilt := t.TempDir()
	if err := os.WriteFile(filepath.Join(spoilt, results.DebateFile), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(filepath.Join(dir, "calm-sim-1", "history.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	cases := []struct {
		args []string
		want string
	}{
		{[]string{"huntt"}, `unknown command "huntt": did you mean hunt?`},
		{[]string{"xyzzy"}, `unknown command "xyzzy"`},
		{[]string{"run"}, "run needs a SCENARIO: a name, such as calm, crash-restart"},
		{[]string{"list", "fautls"}, `did you mean the section faults?`},
		{[]string{"list", "clam"}, `the nearest of`},
		{[]string{"run", "--check-only"}, "run needs a SCENARIO: "},
		{[]string{"check", file("array.json", `[{"t":1}]`)}, `line 1: not a history: the first line is not a header with "format":"lockstorm-history"`},
		{[]string{"check", file("cut.jsonl", string(whole[:bytes.LastIndexByte(bytes.TrimSpace(whole), '\n')+1]))}, `if nothing is missing, append {"t":T,"kind":"end"}`},
		{[]string{"sing"}, `unknown command "sing"`},
		{[]string{"run", "clam"}, fmt.Sprintf(`unknown scenario "clam"; the nearest of %d: calm`, len(scenarios.All())+len(scenarios.Published()))},
		{[]string{"run", "none.yaml"}, "open none.yaml: no such file"},
		{[]string{"run", "calm", "--backend", "tin"}, `unknown backend "tin": want sim`},
		{[]string{"run", "calm", "--runs", "0"}, "--runs 0: want at least 1"},
		{[]string{"run", "calm", "--seed", "x"}, `--seed "x": want a whole number from 0`},
		{[]string{"run", "calm", "--out", file("taken", "")}, "taken: not a directory"},
		{[]string{"check", filepath.Join(dir, "nowhere")}, "nowhere does not exist"},
		{[]string{"check", file("empty.jsonl", "")}, "empty.jsonl: the history is empty"},
		{[]string{"check", file("cut.jsonl", string(whole[:len(whole)/2]))}, "cut.jsonl: line "},
		{[]string{"check", file("end.jsonl", string(whole[:bytes.LastIndexByte(whole[:len(whole)-1], '\n')+1]))}, "end.jsonl: the history is cut off"},
		{[]string{"check", file("garbage.jsonl", "\x00\x01\x02")}, "garbage.jsonl: line 1: not a history"},
		{[]string{"check", dir}, " has no run.json: it is not the directory of a run, or the run was cut off"},
		{[]string{"check", file("nodes.jsonl", `{"format":"lockstorm-history","version":1,"nodes":-5,"clients":1}`)}, "nodes.jsonl: line 1: -5 nodes: want 1 to 64"},
		{[]string{"run", "calm", "--faults", "burn"}, `--faults "burn": burn: unknown kind of fault "burn": there is [crash `},
		{[]string{"run", "calm", "--faults", ""}, "no kind of fault is named: want all, or kinds as in crash,partition:3"},
		{[]string{"run", "calm", "--faults", "crash:-1"}, `--faults "crash:-1": crash: weight -1: want 0 to 9`},
		{[]string{"run", file("timers.yaml", timersFirst(t)), "--backend", "process"}, `the process backend cannot carry out fault 1 of the plan, a pause with "first: timers" (who can: sim)`},
		{[]string{"run", "calm", "--faults", "failover"}, `--faults "failover": failover: a failover is impossible here: no node has a replica: the setting has no replication`},
		{[]string{"run", "calm", "--faults", "all", "--most", "0"}, "--most 0: want 1 to 99"},
		{[]string{"run", "calm", "--most", "3"}, "--most needs --faults"},
		{[]string{"replay", filepath.Join("runs", "none-1")}, "none-1 does not exist"},
		{[]string{"replay", "--package", "p", "calm"}, "--package needs --go"},
		{[]string{"replay", "calm"}, `the replay string "calm" does not begin with v1.: it is no replay string, and there is no such file or directory`},
		{[]string{"replay", "v1.calm.7.g1.4.crash.00000000.0000"}, "is cut off or mistyped"},
		{[]string{"replay", runner.Replay{Scenario: "clam"}.String()}, fmt.Sprintf(`unknown scenario "clam"; the nearest of %d: calm ("lockstorm list scenarios" names all)`, len(scenarios.All())+len(scenarios.Published()))},
		{[]string{"replay", dir}, " has no run.json: it is not the directory of a run, or the run was cut off"},
		{[]string{"ci", "--suites", "tests"}, "unknown flag: --suites: did you mean --suite?"},
		{[]string{"ci", "--jnuit=x"}, "unknown flag: --jnuit: did you mean --junit?"},
		{[]string{"ci", "--verbosity"}, "unknown flag: --verbosity (see lockstorm ci --help)"},
		{[]string{"ci", "-v"}, "unknown shorthand flag: 'v' in -v"},
		{[]string{"run", "--check-only", "--backend", "tin", "mine.yaml"}, `unknown backend "tin": want sim`},
		{[]string{"debate", "--runs", "-1"}, "--runs -1: want at least 1"},
		{[]string{"debate", "calm", "clam"}, fmt.Sprintf(`unknown row "clam"; the nearest of %d: calm`, knownRows())},
		{[]string{"debate", "--format", "verse"}, `unknown format "verse": want text, markdown, json or csv`},
		{[]string{"debate", "--from", spoilt}, "debate.json: unexpected end of JSON input"},
		{[]string{"debate", "--from", dir, "--runs", "3"}, "[from runs]"},
		{[]string{"debate", "--from", filepath.Join(dir, "nowhere")}, "debate.json: no such file"},
		{[]string{"compare", "calm"}, `unexpected argument "calm": want lockstorm compare`},
		{[]string{"compare", "--runs", "0"}, "--runs 0: want at least 1"},
		{[]string{"compare", "--lock="}, "--lock: want at least one lock"},
		{[]string{"compare", "--trial="}, "--trial: want the name of a trial"},
		{[]string{"run", "testdata"}, "the directory testdata is no scenario: want the name of one, or a YAML file"},
		{[]string{"debate", "calm", "mine.yaml"}, "mine.yaml: a row is wanted, not a file: use lockstorm run"},
		{[]string{"check", ""}, `the file "" does not exist`},
		{[]string{"replay", "none/here"}, "none/here does not exist"},
		{[]string{"explore", "calm", "--deviations", "-2"}, "--deviations -2: want -1 or more"},
		{[]string{"compare", "--lock", "redlock,padlock"}, fmt.Sprintf(`unknown lock "padlock"; the nearest of %d: redlock`, len(scenarios.Contenders()))},
		{[]string{"compare", "--trial", "fire"}, fmt.Sprintf(`unknown trial "fire"; none of %d resembles it`, len(scenarios.Trials()))},
		{[]string{"compare", "--from", dir, "--seed", "3"}, "[from seed]"},
		{[]string{"compare", "--from", dir}, "compare.json: no such file"},
		{[]string{"debate", "--from", filepath.Dir(file("debate.json", `{"format":"lockstorm-reference","version":7}`))}, "debate.json: it has version 7; this program reads version 1"},
	}
	for _, c := range cases {
		code, out, problems := command(t, c.args...)
		if code != exitBadInput || out != "" || !strings.HasPrefix(problems, "lockstorm: ") ||
			!strings.Contains(problems, c.want) || strings.Count(problems, "\n") != 1 {
			t.Errorf("%v: exit code %d, printed %q and %q, want %q", c.args, code, out, problems, c.want)
		}
	}
}

func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var out, problems bytes.Buffer
	code := execute(ctx, []string{"debate"}, strings.NewReader(""), &out, &problems)
	want(t, "exit code", code, exitUndecided)
	if strings.Contains(problems.String(), "goroutine") {
		t.Error(problems.String())
	}
}

// A run that was stopped is stored, and judged again as what it is.
func TestCheckOfAnInterruptedRun(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	e, err := prepare("calm", backends[0].Backend)
	if err != nil {
		t.Fatal(err)
	}
	keeper, err := results.NewKeeper(t.TempDir(), e, nil)
	if err != nil {
		t.Fatal(err)
	}
	_, dir, err := keeper.Run(ctx, 1)
	if err != nil {
		t.Fatal(err)
	}
	code, out, _ := command(t, "check", dir)
	want(t, "exit code", code, exitUndecided)
	wantIn(t, out, "calm: undecided (1 run)", "Stopped before the end")
}

func TestVersion(t *testing.T) {
	code, out, _ := command(t, "--version")
	want(t, "exit code", code, exitAsExpected)
	wantMatch(t, out, `^lockstorm \S+\n(lockstorm revision \S+\nlockstorm date \S+\n)?go go1\.\S+\n`)
}

// soon waits until a condition holds.
func soon(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(2 * time.Minute); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("still not: %s", what)
		}
	}
}
