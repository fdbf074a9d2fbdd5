package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/checker"
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
	file := filepath.Join(t.TempDir(), "history")
	if err := os.WriteFile(file, []byte(zipped(t, text)), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, of := range []struct{ name, stdin string }{{file, ""}, {"-", text}, {"-", zipped(t, text)}} {
		code, out, problems := commandReading(t, of.stdin, "check", of.name)
		want(t, "exit code", code, exitContradiction)
		want(t, "on stderr", problems, "")
		want(t, "out", out, plain)
	}
}

// Of several inputs all are judged, whatever is wrong with one of them, and the exit code
// is of the one that there is most to say of.
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
	wantIn(t, problems, nowhere+": no such file", "has no run.json", "garbage: line 1: not a history")

	code, _, _ = command(t, "check", good, garbage)
	want(t, "exit code of bad input beside a good run", code, exitBadInput)
	code, _, _ = command(t, "check", good, good)
	want(t, "exit code of two good runs", code, exitAsExpected)
	code, _, problems = command(t, "check", "-", good, "-")
	want(t, "exit code of standard input named twice", code, exitBadInput)
	wantIn(t, problems, "standard input can be read once")
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

// Law: --json prints an object for each history, with what was found in full.
func TestCheckPrintsJSON(t *testing.T) {
	dir := storedRun(t, "crash-restart")
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

// A check that is stopped tells what it knows, and its exit code is that of what is open.
func TestCheckThatIsStopped(t *testing.T) {
	text := historyOf(t, storedRun(t, "calm"))
	ctx, cancel := context.WithCancel(context.Background())
	var out, problems bytes.Buffer
	endless := readers{strings.NewReader(text[:len(text)/2]), stopping{cancel}}
	code := execute(ctx, []string{"check", "-", "nowhere"}, &endless, &out, &problems)
	want(t, "exit code", code, exitUndecided)
	want(t, "on stderr", problems.String(), "")
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

// stopping stops whoever reads it.
type stopping struct{ stop func() }

func (s stopping) Read([]byte) (int, error) { s.stop(); return 0, os.ErrClosed }
