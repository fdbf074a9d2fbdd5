package cli

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/results"
)

// storedRun runs a scenario once and returns the directory of the run.
func storedRun(t *testing.T, scenario string) string {
	t.Helper()
	dir := t.TempDir()
	if code, _, problems := command(t, "run", scenario, "--out", dir); code != exitAsExpected {
		t.Fatalf("%s: exit code %d: %s", scenario, code, problems)
	}
	return filepath.Join(dir, scenario+"-sim-1")
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
	for _, text := range []string{read(t, filepath.Join(storedRun(t, "crash-restart"), "history.jsonl")), read(t, "testdata/scene/twice.edn")} {
		file := filepath.Join(t.TempDir(), "history")
		write(t, file, zipped(t, text))
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

// Law: --format json prints an object for each history, with its complete findings.
func TestCheckPrintsJSON(t *testing.T) {
	dir := storedRun(t, "crash-restart")
	t.Chdir(t.TempDir())
	code, out, problems := commandReading(t, read(t, filepath.Join(dir, "history.jsonl")), "check", "--format", "json", dir, "-")
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
		lease := slices.IndexFunc(l.Findings, func(f checker.Finding) bool { return f.Property == checker.Lease })
		want(t, "pair", l.Findings[lease].First.Second.Client, 2)
	}
}

// Of a run of a lock that was tested, check says what the test has stored with it: which violations
// failed the test, and why the others did not.
func TestCheckOfATestSaysLimitOrDefect(t *testing.T) {
	dir := storedRun(t, "crash-restart")
	path := filepath.Join(dir, results.RunFile)
	var run map[string]any
	if err := json.Unmarshal([]byte(read(t, path)), &run); err != nil {
		t.Fatal(err)
	}
	run["judged"] = runner.Judged{
		Failed: []checker.Property{checker.Effect},
		Limits: []runner.Limit{{Property: checker.Lease, Why: "fault 2: nodes forget"}},
	}
	text, err := json.Marshal(run)
	if err != nil {
		t.Fatal(err)
	}
	write(t, path, string(text))
	_, out, _ := command(t, "check", dir)
	wantIn(t, out, "  A limit: fault 2: nodes forget.\n", "  A defect: the lock promises this, and the run stays within its assumptions.\n")
	if strings.Contains(out, "restart_delay") {
		t.Errorf("check judges the run by the promises of another lock:\n%s", out)
	}
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

// A check that is stopped tells what it knows and which inputs it has not judged, and its exit code is that
// of what is open.
func TestCheckThatIsStopped(t *testing.T) {
	text := read(t, filepath.Join(storedRun(t, "calm"), "history.jsonl"))
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
