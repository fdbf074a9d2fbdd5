package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// tinyWorld is two clients who want one lock.
const tinyWorld = `name: tiny
summary: two clients want one lock
lock: {kind: redlock, ttl: 30ms, drift_factor: 0.01, node_timeout: 10ms, linger: 10ms, retry: {min: 10ms, max: 10ms}}
clients:
  - {workload: hold, resource: r, work: {min: 10ms, max: 10ms}, rounds: 1}
  - {workload: hold, resource: r, work: {min: 10ms, max: 10ms}, rounds: 1}
nodes: 3
persistence: none
latency: {min: 100us, max: 10100us}
horizon: 80ms
`

// forgetful is the same on one node that crashes.
var forgetful = strings.NewReplacer("nodes: 3", "nodes: 1", "name: tiny", "name: forgetful").Replace(tinyWorld) + `plan:
  - {crash: {node: 1}, start: {at: 5ms}, end: {after: 0s}}
`

func worldFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "world.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// Every run of a world without faults keeps the properties, and the output says within which bounds.
func TestExploreProves(t *testing.T) {
	code, out, problems := command(t, "explore", worldFile(t, tinyWorld), "--deviations", "2")
	want(t, "exit code", code, exitAsExpected)
	want(t, "on stderr", problems, "")
	wantIn(t, out, "holds in all runs (", "bounds: 2 latencies, 2 values of each number beside a random one, at most 0 faults, at most 2 deviations", "lease exclusion    holds", "fence order        n/a")
}

// A violation is printed with a path that repeats the run. The same path in another world is said to
// be another run.
func TestExploreFindsAndRepeats(t *testing.T) {
	file := worldFile(t, forgetful)
	code, out, _ := command(t, "explore", file, "--tick", "5ms", "--property", "V1")
	want(t, "exit code", code, exitContradiction)
	wantIn(t, out, "violated (", "lease exclusion violated in a run of", "with 1 fault, the shortest there is", "while client")
	_, path, _ := strings.Cut(strings.TrimSpace(out), "--path ")
	path, _, _ = strings.Cut(path, "\n")
	code, again, _ := command(t, "explore", file, "--path", path)
	want(t, "exit code", code, exitContradiction)
	wantIn(t, again, "lease exclusion violated:\n", "while client")
	code, other, _ := command(t, "explore", worldFile(t, strings.Replace(forgetful, "max: 10100us", "max: 9100us", 1)), "--path", path)
	want(t, "exit code", code, exitContradiction)
	wantIn(t, other, "not the run of before")
}

// What --json prints has everything that a script needs.
func TestExploreJSON(t *testing.T) {
	code, out, _ := command(t, "explore", worldFile(t, forgetful), "--json", "--tick", "5ms")
	want(t, "exit code", code, exitContradiction)
	var got explorationJSON
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatal(err)
	}
	if got.Verdict != "violated" || !got.Finished || got.Executions == 0 || got.States == 0 || got.Bounds.Faults != 1 {
		t.Errorf("%+v", got)
	}
	if f := got.Find; f == nil || f.Events == 0 || f.Faults != 1 || !strings.HasPrefix(f.Replay, "e1.l2d2.1@") {
		t.Errorf("the counterexample: %+v", f)
	}
}

// Nothing is said to hold before every run was made.
func TestExploreUnfinished(t *testing.T) {
	code, out, _ := command(t, "explore", worldFile(t, tinyWorld), "--runs", "5")
	want(t, "exit code", code, exitUndecided)
	wantIn(t, out, "unfinished; not finished, about", "of the runs with 1 deviation done", "lease exclusion    unfinished")
}

// A named scenario is explored in its smallest world, unless its own is asked for.
func TestExploreSmallestWorld(t *testing.T) {
	_, small, _ := command(t, "explore", "calm", "--deviations", "0")
	wantIn(t, small, "world: 3 nodes, 2 clients, 1 round each")
	_, full, _ := command(t, "explore", "calm", "--deviations", "0", "--full")
	wantIn(t, full, "world: 5 nodes, 3 clients with 10, 10 and 2 rounds")
}

// Of several scenarios a table is printed, with the deviations of which every run was made.
func TestExploreSeveral(t *testing.T) {
	code, out, _ := command(t, "explore", "crash-restart", "delayed-restart", "--deviations", "0")
	want(t, "exit code", code, exitAsExpected)
	wantIn(t, out, "VIOLATED (EVENTS, FAULTS)", "crash-restart    3      2        2       violated  V1 (", "delayed-restart  3      2        2       holds", "2 of 2 scenarios as expected")
	_, row, _ := command(t, "show", "crash-restart")
	unexpected, _, _ := strings.Cut(row, "expect:")
	code, out, _ = command(t, "explore", "delayed-restart", worldFile(t, unexpected), "--deviations", "0")
	want(t, "exit code", code, exitContradiction)
	wantIn(t, out, "1 of 2 scenarios as expected", "lease exclusion: violated, which is not expected; see lockstorm explore")
	code, out, _ = command(t, "explore", "crash-restart", "delayed-restart", "--deviations", "0", "--json")
	want(t, "exit code", code, exitAsExpected)
	var got explorationsJSON
	if err := json.Unmarshal([]byte(out), &got); err != nil || len(got.Explorations) != 2 || got.Explorations[1].Verdict != "holds" {
		t.Errorf("%v: %+v", err, got)
	}
}

// With --quick a scenario that has too many runs is as expected with fewer deviations, and without it
// undecided.
func TestExploreQuick(t *testing.T) {
	code, out, _ := command(t, "explore", "--quick", "delayed-restart", "--deviations", "9")
	want(t, "exit code", code, exitAsExpected)
	wantIn(t, out, "1 of 1 scenario as expected")
	code, out, _ = command(t, "explore", "delayed-restart", "calm", "--deviations", "9", "--runs", "10")
	want(t, "exit code", code, exitUndecided)
	wantIn(t, out, "0 of 2 scenarios as expected", "delayed-restart: lease exclusion: unfinished")
}

// The exit code compares with what a row expects.
func TestExploreRow(t *testing.T) {
	code, out, _ := command(t, "explore", "crash-restart", "--deviations", "0")
	want(t, "exit code", code, exitAsExpected)
	wantIn(t, out, "lease exclusion    violated", "--path e1.l2d2.1+2..")
}

// An exploration is continued from its state, and shards are joined.
func TestExploreState(t *testing.T) {
	dir := t.TempDir()
	state, file := filepath.Join(dir, "state.json"), worldFile(t, tinyWorld)
	code, _, _ := command(t, "explore", file, "--state", state, "--runs", "5")
	want(t, "exit code", code, exitUndecided)
	code, out, problems := command(t, "explore", file, "--state", state)
	want(t, "exit code", code, exitAsExpected)
	want(t, "on stderr", problems, "")
	wantIn(t, out, "holds in all runs (")
	code, again, _ := command(t, "explore", file, "--state", state)
	want(t, "exit code", code, exitAsExpected)
	want(t, "the state of a finished exploration", again, out)
	code, _, problems = command(t, "explore", file, "--state", state, "--deviations", "2")
	want(t, "exit code", code, exitBadInput)
	wantIn(t, problems, "--state: "+state+": it is of another scenario, or other bounds or properties")

	one, two := filepath.Join(dir, "1.json"), filepath.Join(dir, "2.json")
	for shard, path := range map[string]string{"1/2": one, "2/2": two} {
		code, out, _ := command(t, "explore", file, "--shard", shard, "--state", path)
		want(t, "exit code", code, exitUndecided)
		wantIn(t, out, "unfinished; shard "+shard+" was made (", "lease exclusion    unfinished")
	}
	code, out, _ = command(t, "explore", file, "--merge", one+","+two)
	want(t, "exit code", code, exitAsExpected)
	wantIn(t, out, "holds in all runs (", "at most 1 deviation")
	code, _, problems = command(t, "explore", file, "--merge", one)
	want(t, "exit code", code, exitBadInput)
	wantIn(t, problems, "--merge: shard 2/2 is missing")
}

func TestExploreBadInput(t *testing.T) {
	file := worldFile(t, forgetful)
	for name, c := range map[string]struct {
		args []string
		says string
	}{
		"no scenario":       {nil, "needs a SCENARIO"},
		"unknown scenario":  {[]string{"cram"}, `unknown scenario "cram"`},
		"no latency":        {[]string{file, "--latencies", "0"}, "0 latencies: want 1 to 64"},
		"too many draws":    {[]string{file, "--draws", "65"}, "65 draws: want 0 to 64"},
		"too few faults":    {[]string{file, "--faults", "-2"}, "--faults -2: want -1 or more"},
		"a tick of nothing": {[]string{file, "--tick", "-1s"}, "a tick of -1s: want 0s or more"},
		"too many plans":    {[]string{file, "--tick", "1ns"}, "too many plans"},
		"no worker":         {[]string{file, "--workers", "0"}, "--workers 0: want at least 1"},
		"unknown property":  {[]string{file, "--property", "V9"}, `unknown property "V9"`},
		"no path":           {[]string{file, "--path", "v2.calm.1"}, "does not begin with e1."},
		"a path of two":     {[]string{file, file, "--path", "e1.l2d2..00000000.0000"}, "--path, --state and --merge are of one scenario, not of 2"},
		"shard 3 of 2":      {[]string{file, "--shard", "3/2"}, "--shard 3/2: want a part and their number, such as 2/4"},
		"no state":          {[]string{file, "--state", file}, "this is no state of an exploration"},
		"nothing to merge":  {[]string{file, "--merge", "none.json"}, "--merge: open none.json: no such file or directory"},
		"a mistyped path":   {[]string{file, "--path", "e1.l2d2.1..00000000.0000"}, "cut off or mistyped"},
	} {
		t.Run(name, func(t *testing.T) {
			code, out, problems := command(t, append([]string{"explore"}, c.args...)...)
			want(t, "exit code", code, exitBadInput)
			want(t, "on stdout", out, "")
			wantIn(t, problems, c.says)
			if n := strings.Count(problems, "\n"); n != 1 {
				t.Errorf("%d lines on stderr:\n%s", n, problems)
			}
		})
	}
}
