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

// A history is judged alike from a file, compressed, and from standard input.
func TestCheckReadsWhatThereIs(t *testing.T) {
	dir := storedRun(t, "crash-restart")
	text := historyOf(t, dir)
	_, plain, _ := command(t, "check", filepath.Join(dir, "history.jsonl"))
	wantIn(t, plain, "lease exclusion violated")
	plain, _, _ = strings.Cut(plain, "\npicture of")
	t.Chdir(t.TempDir())
	file := filepath.Join(t.TempDir(), "history")
	if err := os.WriteFile(file, []byte(zipped(t, text)), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, of := range []struct{ name, stdin string }{{file, ""}, {"-", text}, {"-", zipped(t, text)}} {
		code, out, problems := commandReading(t, of.stdin, "check", of.name)
		want(t, "exit code", code, exitContradiction)
		want(t, "on stderr", problems, "")
		out, pictures, _ := strings.Cut(out, "\npicture of")
		want(t, "out", out, plain)
		wantIn(t, pictures, "counterexample-lease.html")
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

// Properties that are asked for are judged alone, and nothing is expected of the others.
func TestCheckOfSomeProperties(t *testing.T) {
	dir := storedRun(t, "crash-restart")
	code, out, _ := command(t, "check", dir, "--property", "v4,contract")
	want(t, "exit code", code, exitAsExpected)
	wantIn(t, out, "V4        fence order", "C         contract")
	if strings.Contains(out, "V1") || strings.Contains(out, "lease") {
		t.Errorf("told of what nobody asked for:\n%s", out)
	}
	code, _, problems := command(t, "check", dir, "--property", "safety")
	want(t, "exit code", code, exitBadInput)
	wantIn(t, problems, `unknown property "safety": want V1 lease exclusion, `)
}

// Law: --json prints an object for each history, with its complete findings.
func TestCheckPrintsJSON(t *testing.T) {
	dir := storedRun(t, "crash-restart")
	t.Chdir(t.TempDir())
	code, out, problems := commandReading(t, historyOf(t, dir), "check", "--json", dir, "-")
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
			Pictures []results.Drawn   `json:"pictures"`
		}
		if err := json.Unmarshal([]byte(lines[i]), &l); err != nil {
			t.Fatal(err)
		}
		want(t, "name", l.Name, name)
		want(t, "lease", l.Verdicts["lease"], "violated")
		want(t, "findings", len(l.Findings), len(checker.Properties()))
		want(t, "as expected", l.AsIs, name == dir)
		want(t, "pictures", len(l.Pictures), 2)
		want(t, "picture of", fmt.Sprint(l.Pictures[0].Properties), "[lease section]")
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
	_, out, _ := command(t, "check", "--picture", "none", dir)
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

// A violation or an unknown verdict gets a picture, beside the history or in --out. Nothing else is
// written.
func TestCheckDrawsWhatIsWrong(t *testing.T) {
	temporary, here := t.TempDir(), t.TempDir()
	dir, good := storedRun(t, "crash-restart"), storedRun(t, "calm")
	text := historyOf(t, dir)
	t.Setenv("TMPDIR", temporary)
	t.Chdir(here)
	const pictures = "counterexample-effect.html counterexample-lease.html"
	want(t, "in the run's directory, after the run", inDir(t, dir), pictures+" history.jsonl run.json")
	before, err := os.ReadFile(filepath.Join(dir, "counterexample-lease.html"))
	if err != nil {
		t.Fatal(err)
	}
	wantIn(t, string(before), "<title>crash-restart: lease exclusion and section exclusion violated (sim, seed 1)</title>")

	commandReading(t, text, "check", dir, good, "-")
	want(t, "in the run's directory", inDir(t, dir), pictures+" history.jsonl run.json")
	want(t, "in that of a run in which all held", inDir(t, good), "history.jsonl run.json")
	want(t, "here", inDir(t, here), pictures)
	want(t, "among temporary files", inDir(t, temporary), "")

	all := t.TempDir()
	_, out, _ := command(t, "check", "--property", "V1", "--picture", all, filepath.Join(dir, "history.jsonl"), filepath.Join(dir, "history.jsonl"))
	want(t, "in one directory", inDir(t, all), "history.jsonl.counterexample-lease.2.html history.jsonl.counterexample-lease.html")
	wantIn(t, out, "\npicture of V1: "+filepath.Join(all, "history.jsonl.counterexample-lease.html")+"\n")

	_, out, _ = command(t, "check", "--picture", "none", filepath.Join(dir, "history.jsonl"))
	if strings.Contains(out, "picture") {
		t.Errorf("a picture that nobody wanted:\n%s", out)
	}
	want(t, "in the run's directory", inDir(t, dir), pictures+" history.jsonl run.json")
}

// If a picture cannot be written, one line says so, and no verdict changes.
func TestCheckThatCannotDraw(t *testing.T) {
	dir := storedRun(t, "crash-restart")
	history := filepath.Join(dir, "history.jsonl")
	_, plain, _ := command(t, "check", "--property", "V1", "--picture", "none", history)
	pictures := filepath.Join(dir, "pictures")
	if err := os.MkdirAll(filepath.Join(pictures, "history.jsonl.counterexample-lease.html"), 0o755); err != nil {
		t.Fatal(err)
	}
	code, out, problems := command(t, "check", "--property", "V1", "--picture", pictures, history)
	want(t, "exit code", code, exitContradiction)
	want(t, "out", out, plain)
	want(t, "lines on stderr", strings.Count(problems, "\n"), 1)
	wantIn(t, problems, "lockstorm: no picture: ", "history.jsonl.counterexample-lease.html", "file exists")

	code, out, problems = command(t, "check", "--picture", filepath.Join(history, "nowhere"), dir)
	want(t, "exit code where there can be no such directory", code, exitBadInput)
	want(t, "out", out, "")
	wantIn(t, problems, "lockstorm: --picture: ", "not a directory")
}

// A history of somebody else's has no name but that of its file, no seed, and where
// something is wrong in it is said in its own numbers.
func TestCheckOfAHistoryFromElsewhere(t *testing.T) {
	file := filepath.Join(t.TempDir(), "theirs.jsonl")
	const theirs = `{"format":"lockstorm-history","version":1,"nodes":1,"clients":2}
{"t":1,"kind":"acquire","client":1,"resource":"r","token":"order-service-1"}
{"t":2,"kind":"granted","client":1,"resource":"r","token":"order-service-1"}
{"t":3,"kind":"acquire","client":2,"resource":"r","token":"order-service-2"}
{"t":4,"kind":"granted","client":2,"resource":"r","token":"order-service-2"}
{"t":9,"kind":"end"}
`
	if err := os.WriteFile(file, []byte(theirs), 0o644); err != nil {
		t.Fatal(err)
	}
	code, out, _ := command(t, "check", "--picture", "none", file)
	want(t, "exit code", code, exitContradiction)
	wantIn(t, out, file+": violations in 1 of 1 run; no verdict was expected\n",
		"lease exclusion violated:\n  client 1 was granted \"r\" (token order-service-1)",
		"in the history: V1 from \"t\":4 to \"t\":9\n")
	_, out, _ = command(t, "check", "--picture", "none", "--property", "V1", "--json", file)
	wantIn(t, out, `"scenario":""`)
	if strings.Contains(out, "measurements") || strings.Contains(out, "grants\":") {
		t.Errorf("nothing is measured where one property is asked for, and figures are told: %s", out)
	}
}

// If the output cannot be written, the command fails.
func TestOutputThatIsLost(t *testing.T) {
	for _, args := range [][]string{{"list"}, {"run", "calm", "--out", ""}, {"check", "--picture", "none", "../../docs/two-holders.jsonl"}} {
		var problems bytes.Buffer
		code := execute(context.Background(), args, strings.NewReader(""), full{}, &problems)
		want(t, "exit code of "+args[0], code, exitBadInput)
		want(t, "on stderr of "+args[0], problems.String(), "lockstorm: no space left on device\n")
	}
}

// full is a device without space.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

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
