package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/internal/runner"
)

// project makes a project with claims and a page, whose command is a script.
func project(t *testing.T, claims, script string) options {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		claimsFile:              claims,
		"docs/evidence/page.md": "| row | seen | verdict |\n|---|---|---|\n| a | 95 of 100 | holds |\n| **heading** |  |  |\n| b | 0 of 100 | violated |\n",
		"command":               "#!/bin/sh\n" + script,
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return options{root: dir, keep: filepath.Join(dir, "keep"), page: filepath.Join(dir, "paper.md"), binary: filepath.Join(dir, "command")}
}

const (
	about    = "  claim: it holds\n  evidence: page.md\n  made: by hand\n  says: [{in: docs/evidence/page.md, text: 95 of 100}]\n"
	tabular  = "- name: table\n" + about + "  again:\n  - command: lockstorm rows\n    table: {in: docs/evidence/page.md, key: [row], equal: [verdict], share: seen}\n"
	printing = "- name: prints\n" + about + "  again:\n  - {command: lockstorm says, prints: [\"7 runs\"]}\n"
)

// Law: a figure that agrees is no disagreement, and one that does not is, with the exit that says so.
func TestRecompute(t *testing.T) {
	rows := func(a, b string) string {
		return "case $1 in rows) printf '| row | seen | verdict |\\n|---|---|---|\\n" + a + "\\n" + b + "\\n';; *) echo 7 runs;; esac\n"
	}
	for name, c := range map[string]struct {
		script string
		want   string // in what is printed
		err    error
	}{
		"agreement":       {rows("| a | 9 of 10 | holds |", "| b | 0 of 10 | violated |"), "all figures of 2 claims agree", nil},
		"another rate":    {rows("| a | 9 of 10 | holds |", "| b | 10 of 10 | violated |"), "table: b: seen: committed 0 %", errDisagree},
		"another verdict": {rows("| a | 9 of 10 | violated |", "| b | 0 of 10 | violated |"), "table: a: verdict: committed holds, recomputed violated", errDisagree},
		"another output":  {strings.Replace(rows("| a | 9 of 10 | holds |", "| b | 0 of 10 | violated |"), "7 runs", "8 runs", 1), "prints: output: committed 7 runs, recomputed not printed", errDisagree},
	} {
		t.Run(name, func(t *testing.T) {
			o := project(t, tabular+printing, c.script)
			var out bytes.Buffer
			err := recompute(t.Context(), o, &out, io.Discard)
			if !errors.Is(err, c.err) || !strings.Contains(out.String(), c.want) {
				t.Errorf("%v, %q; want %v, %q", err, out.String(), c.err, c.want)
			}
			page, err := os.ReadFile(o.page)
			if err != nil || strings.Contains(string(page), "**no**") != (c.err != nil) {
				t.Errorf("%v, the page is\n%s", err, page)
			}
		})
	}
}

// Law: what cannot be compared is an error: no row, an unknown row, no table, numbers that are none.
func TestNothingToCompare(t *testing.T) {
	for printed, want := range map[string]string{
		"nothing": "no table with the columns",
		"| row | seen | verdict |\\n|---|---|---|":                        errNothing.Error(),
		"| row | seen | verdict |\\n|---|---|---|\\n| c | 1 of 2 | x |":   `no row "c"`,
		"| row | seen | verdict |\\n|---|---|---|\\n| a | many | x |":     "invalid syntax",
		"| row | seen | verdict |\\n|---|---|---|\\n| a | 11 of 10 | x |": "11 of 10",
	} {
		err := recompute(t.Context(), project(t, tabular, "printf '"+printed+"\\n'\n"), io.Discard, io.Discard)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v; want %q", printed, err, want)
		}
	}
}

// Law: a stopped paper says what was not run, and continues where it was: nothing is run twice.
func TestContinue(t *testing.T) {
	script := `echo "$1" >>"$(dirname "$0")/../../log"
if [ "$1" = says ] && [ ! -e "$(dirname "$0")/../../second" ]; then touch "$(dirname "$0")/../../second"; sleep 600; fi
case $1 in rows) printf '| row | seen | verdict |\n|---|---|---|\n| a | 9 of 10 | holds |\n';; *) echo 7 runs;; esac
`
	o := project(t, tabular+printing, script)
	ctx, cancel := context.WithCancel(t.Context())
	go func() { // the command stands still until it is killed
		for {
			if _, err := os.Stat(filepath.Join(o.root, "second")); err == nil || ctx.Err() != nil {
				cancel()
				return
			}
			time.Sleep(time.Millisecond)
		}
	}()
	if err := recompute(ctx, o, io.Discard, io.Discard); !errors.Is(err, context.Canceled) {
		t.Fatalf("it was not stopped: %v", err)
	}
	if page, err := os.ReadFile(o.page); err != nil || strings.Count(string(page), "**Not run**") != 1 {
		t.Errorf("%v, the page is\n%s", err, page)
	}
	if err := recompute(t.Context(), o, io.Discard, io.Discard); err != nil {
		t.Fatal(err)
	}
	log, err := os.ReadFile(filepath.Join(o.root, "log"))
	if err != nil || string(log) != "rows\nsays\nsays\n" {
		t.Errorf("%v, the commands were %q", err, log)
	}
	if page, err := os.ReadFile(o.page); err != nil || strings.Contains(string(page), "**Not run**") {
		t.Errorf("%v, the page is\n%s", err, page)
	}
}

// Law: the stored results agree with themselves, and a rate that is not theirs is noticed.
func TestStoredResults(t *testing.T) {
	for _, check := range []Check{{Reference: "results/reference/debate.json"}, {Sweep: "results/reference/restart-boundary"}, {Sweep: "results/reference/drift-edge"}} {
		o := output{dir: filepath.Join(root, check.Sweep)}
		if check.Reference != "" {
			o.dir = filepath.Join(root, "results/reference")
		}
		found, err := check.compare(root, o)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range found {
			if !f.agrees(falseAlarm) {
				t.Errorf("%+v", f)
			}
		}
	}
	if f := rates("x", runner.Rate{K: 0, N: 1000}, runner.Rate{K: 20, N: 100}); f.agrees(1e-6) {
		t.Errorf("%+v", f)
	}
}
