package cli

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/testkit"
	"github.com/lockstorm/lockstorm/results"
)

// commandReading runs a command line that reads a text.
func commandReading(t *testing.T, text string, args ...string) (code int, out, problems string) {
	t.Helper()
	var o, p bytes.Buffer
	code = execute(context.Background(), args, strings.NewReader(text), &o, &p)
	return code, o.String(), p.String()
}

// storedRun runs a scenario once and returns the directory of the run.
func storedRun(t *testing.T, scenario string) string {
	t.Helper()
	dir := t.TempDir()
	if code, _, problems := command(t, "run", scenario, "--out", dir); code != exitAsExpected {
		t.Fatalf("%s: exit code %d: %s", scenario, code, problems)
	}
	return filepath.Join(dir, scenario+"-sim-1")
}

func historyOf(t *testing.T, dir string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "history.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func zipped(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// What check prints of each kind of history, and its exit codes.
func TestCheckGolden(t *testing.T) {
	runs := t.TempDir()
	for _, row := range []string{"calm", "crash-restart"} {
		command(t, "run", row, "--out", runs)
	}
	for name, text := range map[string]string{
		"twice.edn": heldTwice, "garbage": "\x00\x01\x02",
		"broken.edn": heldOnce[:len(heldOnce)-20], "register.edn": "{:type :invoke, :f :read, :process 0}",
	} {
		if err := os.WriteFile(filepath.Join(runs, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	golden, err := filepath.Abs("testdata/check.txt")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(runs)
	var all strings.Builder
	for _, args := range []string{
		"calm-sim-1",
		"crash-restart-sim-1 --picture pictures",
		"crash-restart-sim-1/history.jsonl --property v4,contract",
		"crash-restart-sim-1/history.jsonl --property V1",
		"crash-restart-sim-1 --property safety",
		"calm-sim-1 --model fenced",
		"calm-sim-1 --format xml",
		"nowhere garbage .",
		"- --report page.html",
		"twice.edn --picture pictures",
		"twice.edn --model semaphore=2",
		"twice.edn --model ownerless,mutex",
		"twice.edn --budget 1ns",
		"twice.edn --property lease",
		"twice.edn --format json",
		"broken.edn register.edn",
	} {
		code, out, problems := command(t, append([]string{"check"}, strings.Fields(args)...)...)
		fmt.Fprintf(&all, "$ lockstorm check %s\n%s%sexit code %d\n\n", args, out, problems, code)
	}
	fmt.Fprintf(&all, "pictures: %s\n", inDir(t, "pictures"))
	testkit.GoldenFile(t, golden, all.String(), "check prints something else.")
}

// A history is judged alike from a file, compressed, and from standard input.
func TestCheckReadsWhatThereIs(t *testing.T) {
	for _, text := range []string{historyOf(t, storedRun(t, "crash-restart")), heldTwice} {
		file := filepath.Join(t.TempDir(), "history")
		if err := os.WriteFile(file, []byte(zipped(t, text)), 0o644); err != nil {
			t.Fatal(err)
		}
		var first string
		for i, of := range []struct{ name, stdin string }{{"-", text}, {"-", zipped(t, text)}, {file, ""}} {
			code, out, problems := commandReading(t, of.stdin, "check", of.name)
			want(t, "exit code"+problems, code, exitContradiction)
			if i == 0 {
				first = out
			}
			want(t, "out", out, first)
		}
	}
}

// check judges all inputs, even if one of them is bad, and exits with the most severe code.
func TestCheckOfSeveral(t *testing.T) {
	good, bad := storedRun(t, "calm"), filepath.Join(storedRun(t, "crash-restart"), "history.jsonl")
	nowhere := filepath.Join(t.TempDir(), "nowhere")
	empty := t.TempDir() // has no run.json
	garbage := filepath.Join(empty, "garbage")
	if err := os.WriteFile(garbage, []byte("\x00\x01\x02"), 0o644); err != nil {
		t.Fatal(err)
	}
	code, out, problems := command(t, "check", nowhere, good, empty, bad, garbage)
	want(t, "exit code", code, exitContradiction)
	wantIn(t, out, "==> "+good+" <==\ncalm: as expected", "\n\n==> "+bad+" <==\ncrash-restart: violations in 1 of 1 run")
	lines := strings.Split(strings.TrimSpace(problems), "\n")
	want(t, "lines on stderr", len(lines), 3)
	wantIn(t, problems, nowhere+" does not exist", "has no run.json", "garbage: line 1: not a history")

	code, _, _ = command(t, "check", good, garbage)
	want(t, "exit code of bad input beside a good run", code, exitBadInput)
	code, _, _ = command(t, "check", good, good)
	want(t, "exit code of two good runs", code, exitAsExpected)
	code, _, problems = command(t, "check", "-", good, "-")
	want(t, "exit code of standard input named twice", code, exitBadInput)
	wantIn(t, problems, "standard input can be read only once")
}

// Law: --format json prints an object for each history, with its complete findings.
func TestCheckPrintsJSON(t *testing.T) {
	dir := storedRun(t, "crash-restart")
	t.Chdir(t.TempDir())
	code, out, problems := commandReading(t, historyOf(t, dir), "check", "--format", "json", dir, "-")
	want(t, "exit code", code, exitContradiction)
	want(t, "on stderr", problems, "")
	lines := strings.Split(strings.TrimSpace(out), "\n")
	want(t, "lines", len(lines), 2)
	for i, name := range []string{dir, "-"} {
		var l struct {
			Name     string            `json:"name"`
			Verdicts map[string]string `json:"verdicts"`
			Findings []checker.Finding `json:"findings"`
			AsIs     bool              `json:"as_expected"`
		}
		if err := json.Unmarshal([]byte(lines[i]), &l); err != nil {
			t.Fatal(err)
		}
		want(t, "name", l.Name, name)
		want(t, "lease", l.Verdicts["lease"], "violated")
		want(t, "findings", len(l.Findings), len(checker.Properties()))
		want(t, "as expected", l.AsIs, name == dir)
		want(t, "pair", l.Findings[0].First.Second.Client, 2)
	}
}

// Of a run of a lock that was tested, check says what the test has stored with it: which violations
// failed the test, and why the others did not.
func TestCheckOfATestSaysLimitOrDefect(t *testing.T) {
	dir := storedRun(t, "crash-restart")
	path := filepath.Join(dir, results.RunFile)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var run map[string]any
	if err := json.Unmarshal(text, &run); err != nil {
		t.Fatal(err)
	}
	run["judged"] = runner.Judged{
		Failed: []checker.Property{checker.Effect},
		Limits: []runner.Limit{{Property: checker.Lease, Why: "fault 2: nodes forget"}},
	}
	if text, err = json.Marshal(run); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	_, out, _ := command(t, "check", dir)
	wantIn(t, out, "  A limit: fault 2: nodes forget.\n", "  A defect: the lock promises this, and the run stays within its assumptions.\n")
	if strings.Contains(out, "restart_delay") {
		t.Errorf("check judges the run by the promises of another lock:\n%s", out)
	}
}

// inDir lists a directory.
func inDir(t *testing.T, dir string) string {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	names := make([]string, len(list))
	for i, f := range list {
		names[i] = f.Name()
	}
	return strings.Join(names, " ")
}

// If the output cannot be written, the command fails.
func TestOutputThatIsLost(t *testing.T) {
	for _, args := range [][]string{{"list"}, {"run", "calm", "--out", ""}, {"check", "../../docs/two-holders.jsonl"}} {
		var problems bytes.Buffer
		code := execute(context.Background(), args, strings.NewReader(""), full{}, &problems)
		want(t, "exit code of "+args[0], code, exitBadInput)
		want(t, "on stderr of "+args[0], problems.String(), "lockstorm: no space left on device\n")
	}
}

// full is a device without space.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

const (
	heldOnce = "{:type :invoke, :f :acquire, :process 0, :value nil}\n{:type :ok, :f :acquire, :process 0, :value nil}\n"
	// heldTwice breaks mutual exclusion.
	heldTwice = heldOnce + "{:type :invoke, :f :acquire, :process 1, :value nil}\n{:type :ok, :f :acquire, :process 1, :value nil}\n"
)

// A check that is stopped tells what it knows and which inputs it has not judged, and its exit code is that
// of what is open.
func TestCheckThatIsStopped(t *testing.T) {
	text := historyOf(t, storedRun(t, "calm"))
	ctx, cancel := context.WithCancel(context.Background())
	var out, problems bytes.Buffer
	endless := readers{strings.NewReader(text[:len(text)/2]), stopping{cancel}}
	code := execute(ctx, []string{"check", "-", "nowhere"}, &endless, &out, &problems)
	want(t, "exit code", code, exitUndecided)
	want(t, "on stderr", problems.String(), "lockstorm: nowhere: interrupted\n")
	wantIn(t, out.String(), "==> - <==\ncalm: undecided (1 run)", "Stopped before the end")
}

// readers gives what each of them does, one after another, and then nothing for ever.
type readers []interface{ Read([]byte) (int, error) }

func (r *readers) Read(p []byte) (int, error) {
	if len(*r) == 0 {
		select {}
	}
	n, err := (*r)[0].Read(p)
	if err != nil {
		*r = (*r)[1:]
	}
	return n, nil
}

// stopping is a reader that stops its reader.
type stopping struct{ stop func() }

func (s stopping) Read([]byte) (int, error) { s.stop(); return 0, os.ErrClosed }
