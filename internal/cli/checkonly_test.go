package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/textfmt"
	"github.com/lockstorm/lockstorm/scenarios"
)

// validate accepts what show prints, for every scenario.
func TestValidateWhatShowPrints(t *testing.T) {
	dir := t.TempDir()
	args := []string{"run", "--check-only"}
	for _, s := range scenarios.All() {
		_, text, _ := command(t, "list", s.Name)
		file := filepath.Join(dir, s.Name+".yaml")
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		args = append(args, file)
	}
	code, out, problems := command(t, args...)
	want(t, "exit code", code, exitAsExpected)
	want(t, "on stderr", problems, "")
	want(t, "lines", strings.Count(out, "\n"), len(scenarios.All()))
	wantIn(t, out, filepath.Join(dir, "crash-restart.yaml")+": ok (redlock, 2 clients, 5 nodes, 2 faults, ",
		"minority-partition.yaml: ok (redlock, 2 clients, 5 nodes, 1 fault, ")
	for _, s := range scenarios.All() {
		said := ", " + textfmt.Count(len(s.Expect), "verdict") + " expected"
		if list := checker.Unasked(s.Bounds); len(list) > 0 {
			said += fmt.Sprintf("; not judged, without a bound: %v", list)
		}
		wantMatch(t, out, regexp.QuoteMeta(filepath.Join(dir, s.Name+".yaml"))+`: ok \(.*`+regexp.QuoteMeta(said+")\n"))
	}
}

// One bad file does not hide what is wrong with the next, and every line names
// its file.
func TestValidateGoesOn(t *testing.T) {
	dir := t.TempDir()
	_, good, _ := command(t, "list", "crash-restart")
	lineOf := func(part string) int {
		before, _, found := strings.Cut(good, part)
		if !found {
			t.Fatalf("no %q in:\n%s", part, good)
		}
		return 1 + strings.Count(before, "\n")
	}
	changed := func(pairs ...string) []byte { return []byte(strings.NewReplacer(pairs...).Replace(good)) }
	files := []struct {
		name string
		text []byte
		want []string // what is said, line by line
	}{
		{"many.yaml", changed("ttl: 1s", "ttl: 1", "nodes: 5", "nodes: many", "horizon", "hurizon"), []string{
			fmt.Sprintf("line %d: lock.ttl: 1 is not a duration: ", lineOf("ttl: 1s")),
			fmt.Sprintf(`line %d: nodes: "many" is not a whole number`, lineOf("nodes: 5")),
			fmt.Sprintf("line %d: unknown field hurizon; the nearest of ", lineOf("horizon")),
		}},
		{"good.yaml", []byte(good), []string{"ok (redlock, "}},
		{"drawn.yaml", changed("plan:", "generate: {most: 1}\nplan:"), []string{"ok (redlock, 2 clients, 5 nodes, 2 faults and up to 1 generated, "}},
		{"node.yaml", changed("node: 3", "node: 9"), []string{fmt.Sprintf("line %d: plan[1].crash.node: there is no node 9: they are numbered 1 to 5", lineOf("node: 3"))}},
		{"lock.yaml", changed("redlock", "bluelock"), []string{fmt.Sprintf(`line %d: lock.kind: unknown lock "bluelock": there is [redlock`, lineOf("kind: redlock"))}},
		{"workload.yaml", changed("section\n", "sing\n"), []string{fmt.Sprintf(`line %d: clients[0].workload: unknown workload "sing": there is [hold`, lineOf("workload: section"))}},
		{"useless.yaml", changed("ttl: 1s", "ttl: 1s\n  grace: 1s"), []string{"line 9: lock.grace: redlock has no use for it"}},
		{"margin.yaml", changed("margin: 50ms", "margin: 2s"), []string{"line 7: lock: redlock: impossible setting: margin 2s: want 0 to less than the validity"}},
		{"failover.yaml", changed("crash:", "failover:"), []string{fmt.Sprintf("line %d: plan[1].failover.node: no node has a replica", lineOf("node: 3"))}},
		{"binary.yaml", []byte{0, 1, 2, 0xff}, []string{"line 1: control characters are not allowed"}},
		{"empty.yaml", nil, []string{"the file is empty"}},
		{"huge.yaml", bytes.Repeat([]byte("# much\n"), 5<<20), []string{"longer than 32 MiB: that is no scenario"}},
	}
	args := []string{"run", "--check-only"}
	var lines []string
	for _, f := range files {
		path := filepath.Join(dir, f.name)
		if err := os.WriteFile(path, f.text, 0o644); err != nil {
			t.Fatal(err)
		}
		args = append(args, path)
		for _, line := range f.want {
			lines = append(lines, path+": "+line)
		}
	}
	absent := filepath.Join(dir, "absent.yaml")
	code, out, problems := command(t, append(args, dir, absent)...)
	want(t, "exit code", code, exitBadInput)
	want(t, "on stderr", problems, "")
	lines = append(lines, "read "+dir+": is a directory", "open "+absent+": no such file")
	got := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
	if len(got) != len(lines) {
		t.Fatalf("%d lines, want %d:\n%s", len(got), len(lines), out)
	}
	for i, line := range lines {
		if !strings.HasPrefix(got[i], line) {
			t.Errorf("got %q, want %q", got[i], line)
		}
	}
}

// A fault that a backend cannot inject is an error for that backend only, with its line.
func TestValidateForABackend(t *testing.T) {
	file := filepath.Join(t.TempDir(), "mine.yaml")
	if err := os.WriteFile(file, []byte(timersFirst(t)), 0o644); err != nil {
		t.Fatal(err)
	}
	code, _, _ := command(t, "run", "--check-only", file)
	want(t, "exit code", code, exitAsExpected)
	code, out, _ := command(t, "run", "--check-only", "--backend", "process", file)
	want(t, "exit code", code, exitBadInput)
	wantIn(t, out, file+": line ", "].pause: the process backend cannot carry out fault ")
}

// timersFirst is a scenario of which the process backend cannot carry out the plan: which
// of replies and timers goroutines see first is not for it to choose.
func timersFirst(t *testing.T) string {
	t.Helper()
	_, text, _ := command(t, "list", "pause-then-write")
	changed := strings.Replace(text, "- pause:\n", "- pause:\n      first: timers\n", 1)
	if changed == text {
		t.Fatal("the plan has no pause")
	}
	return changed
}

func TestValidateStandardInput(t *testing.T) {
	_, text, _ := command(t, "list", "calm")
	for input, said := range map[string]string{text: "-: ok (redlock, ", strings.Replace(text, "nodes: 5", "nodes: 0", 1): "-: line "} {
		root := newRoot()
		var out bytes.Buffer
		root.SetArgs([]string{"run", "--check-only", "-"})
		root.SetIn(strings.NewReader(input))
		root.SetOut(&out)
		err := root.ExecuteContext(context.Background())
		if good := strings.Contains(said, "ok"); (err == nil) != good || !strings.HasPrefix(out.String(), said) {
			t.Errorf("got %v and %q, want %q", err, out.String(), said)
		}
	}
}

// The lists are those of a program, and a section is a part of them.
func TestList(t *testing.T) {
	_, whole, _ := command(t, "list")
	for _, name := range []string{"faults", "locks", "scenarios", "published", "properties", "backends", "assumptions"} {
		code, out, problems := command(t, "list", name)
		want(t, "exit code"+problems, code, exitAsExpected)
		for _, part := range strings.Split(out, "\n\n") {
			wantIn(t, whole, part)
		}
	}
	_, out, _ := command(t, "list", "--format", "json")
	var all struct {
		Faults     []entry
		Properties []entry
		Versions   map[string]string
	}
	if err := json.Unmarshal([]byte(out), &all); err != nil || all.Versions["go"] != runtime.Version() {
		t.Fatalf("%v: %s", err, out)
	}
	want(t, "first property", fmt.Sprint(all.Properties[0]), "{lease V1 lease exclusion []}")
	want(t, "a fault's backends", slices.Contains(all.Faults[0].Backends, "sim"), true)
	_, out, _ = command(t, "list", "--schema")
	wantIn(t, out, `"$schema": "https://json-schema.org/draft/2020-12/schema"`)
}
