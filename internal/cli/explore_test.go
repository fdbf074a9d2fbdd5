package cli

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
	wantIn(t, out, "holds in all runs (", "bounds: 2 latencies, 2 values of each number beside a random one, at most 0 faults, at most 2 deviations, tokens of one seed\n", "lease exclusion    holds", "fence order        n/a")
}

// A violation is printed with a string that repeats the run. The same string in another world is said
// to be of another run, and of another scenario it is refused.
func TestExploreFindsAndRepeats(t *testing.T) {
	file := worldFile(t, forgetful)
	code, out, _ := command(t, "explore", file, "--tick", "5ms", "--property", "V1")
	want(t, "exit code", code, exitContradiction)
	deviations := "deviations: reply 1 of node 1 to client 1 takes the longest time"
	wantIn(t, out, "violated (", "lease exclusion violated in a run of", "with 1 fault, the shortest within the bounds", "while client", deviations)
	_, text, _ := strings.Cut(out, "again: lockstorm replay ")
	text, _, _ = strings.Cut(text, " ")
	again := func(world string) (code int, out, problems string) {
		return command(t, "replay", text, "--scenario", worldFile(t, world), "--out", "")
	}
	code, out, _ = again(forgetful)
	want(t, "exit code", code, exitContradiction)
	wantIn(t, out, "lease exclusion violated (seed 1):\n", "while client", deviations, "the same run: its trace is ")
	code, out, _ = again(strings.Replace(forgetful, "max: 10100us", "max: 9100us", 1))
	want(t, "exit code", code, exitContradiction)
	wantIn(t, out, "not the same run: its trace is ")
	code, _, problems := again(strings.Replace(forgetful, "name: forgetful", "name: other", 1))
	want(t, "exit code", code, exitBadInput)
	wantIn(t, problems, `it is the scenario "other", and the replay string is of "forgetful"`)
	code, _, problems = command(t, "replay", text)
	want(t, "exit code", code, exitBadInput)
	wantIn(t, problems, `unknown scenario "forgetful"`, "of a scenario in a file, name that with --scenario")
}

// Faults of some kinds are added to those of the plan, and a find of them is repeated from its string:
// with its point of no return, as a Go test, and from the directory of the run.
func TestExploreAddsFaults(t *testing.T) {
	code, out, _ := command(t, "explore", "calm", "--add", "pause,kill", "--deviations", "0")
	want(t, "exit code", code, exitAsExpected)
	wantIn(t, out, "at most 0 faults of the plan and 1 of the kinds pause and kill, at most 0 deviations", "lease exclusion    holds")
	code, out, _ = command(t, "explore", "pause-after-step-3", "--faults", "0", "--add", "pause", "--deviations", "0", "--property", "V2")
	want(t, "exit code", code, exitAsExpected)
	wantIn(t, out, "section exclusion violated in a run of", "with 1 fault, the shortest within the bounds", "client 1 is paused at ")
	_, text, _ := strings.Cut(strings.TrimSpace(out), "again: lockstorm replay ")
	wantIn(t, text, "v1.pause-after-step-3.1.", ",fpause")
	dir := t.TempDir()
	code, out, _ = command(t, "replay", text, "--inevitable", "--futures", "40", "--out", dir)
	want(t, "exit code", code, exitContradiction)
	wantIn(t, out, "Point of no return", "client 1 is paused", "If one of the last ", "the same run: its trace is ")
	code, out, _ = command(t, "replay", filepath.Join(dir, "pause-after-step-3-sim-1"), "--out", "")
	want(t, "exit code", code, exitContradiction)
	wantIn(t, out, "the same run: its trace is ")
	_, out, _ = command(t, "replay", text, "--go")
	wantIn(t, out, "replay: v1.pause-after-step-3.1..l2d2.")
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
	if f := got.Find; f == nil || f.Events == 0 || f.Faults != 1 || len(f.Deviations) != 1 || !strings.HasPrefix(f.Replay, "v1.forgetful.1.f1@15ms.l2d2-") {
		t.Errorf("the counterexample: %+v", f)
	}
}

// Nothing is said to hold before every run was made.
func TestExploreUnfinished(t *testing.T) {
	code, out, _ := command(t, "explore", worldFile(t, tinyWorld), "--runs", "5")
	want(t, "exit code", code, exitUndecided)
	wantIn(t, out, "unfinished; not finished, about", "of the runs with 1 deviation done, about ", " left (", "lease exclusion    unfinished")
	code, out, _ = command(t, "explore", "calm", "crash-restart", "--deviations", "-1", "--budget", "1ns")
	want(t, "exit code", code, exitUndecided)
	wantIn(t, out, "calm: not finished; see lockstorm explore calm --deviations -1\ncrash-restart: not finished; see lockstorm explore crash-restart --deviations -1\n")
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
	_, row, _ := command(t, "list", "crash-restart")
	unexpected, _, _ := strings.Cut(row, "expect:")
	code, out, _ = command(t, "explore", "delayed-restart", worldFile(t, unexpected), "--deviations", "0")
	want(t, "exit code", code, exitContradiction)
	wantIn(t, out, "1 of 2 scenarios as expected", "lease exclusion: violated, which is not expected; see lockstorm replay v1.crash-restart.1.f1+2.")
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
	wantIn(t, out, "0 of 2 scenarios as expected", "delayed-restart: not finished; see lockstorm explore delayed-restart")
}

// The exit code compares with what a row expects.
func TestExploreRow(t *testing.T) {
	code, out, _ := command(t, "explore", "crash-restart", "--deviations", "0")
	want(t, "exit code", code, exitAsExpected)
	wantIn(t, out, "lease exclusion    violated", "again: lockstorm replay v1.crash-restart.1.n1+3+4,f1+2.l2d2o.")
}

// colliding is two clients each of whom is near another node, so that they collide when they draw the
// same. The bound is so short that few collisions exceed it.
const colliding = `name: colliding
summary: two clients collide
lock: {kind: redlock, ttl: 6ms, drift_factor: 0.01, node_timeout: 2ms, retry: {min: 1ms, max: 3ms}}
clients:
  - {workload: hold, resource: r, work: {min: 1ms, max: 1ms}, rounds: 1}
  - {workload: hold, resource: r, work: {min: 1ms, max: 1ms}, rounds: 1}
nodes: 2
persistence: none
latency: {min: 100us, max: 100us}
links:
  - {clients: [1], nodes: [2], latency: {min: 200us, max: 200us}}
  - {clients: [2], nodes: [1], latency: {min: 200us, max: 200us}}
horizon: 14ms
bounds: {grant: 1ms}
`

// Deadlock freedom is violated by a dead end, and not by clients that collide because they are made to
// draw the same for a while.
func TestExploreDeadEnds(t *testing.T) {
	code, out, _ := command(t, "explore", worldFile(t, colliding), "--deviations", "-1", "--draws", "1", "--property", "L1")
	want(t, "exit code", code, exitAsExpected)
	wantIn(t, out, "deadlock freedom  holds")
	dead := strings.NewReplacer("kind: redlock", "kind: setnx-then-expire", "horizon: 14ms", "horizon: 60ms", "grant: 1ms", "grant: 5ms").Replace(colliding)
	code, out, _ = command(t, "explore", worldFile(t, dead), "--add", "kill", "--deviations", "0", "--draws", "1", "--property", "L1")
	want(t, "exit code", code, exitContradiction)
	wantIn(t, out, "deadlock freedom violated in a run of", "client 1 dies")
}

// An exploration that is stopped is continued, and one that is finished is printed again.
func TestExploreContinues(t *testing.T) {
	dir, file := t.TempDir(), worldFile(t, forgetful)
	words := []string{"explore", file, "--tick", "5ms"}
	code, whole, _ := command(t, words...)
	words = append(words, "--out", dir)
	stopped, _, _ := command(t, append(words, "--budget", "1ns")...)
	want(t, "exit code of one that is stopped", stopped, exitUndecided)
	for range 2 {
		again, out, problems := command(t, words...)
		want(t, "exit code", again, code)
		want(t, "on stderr", problems, "")
		want(t, "what is shown", out, whole)
	}
	code, _, problems := command(t, append(words, "--deviations", "2")...)
	want(t, "exit code", code, exitBadInput)
	wantIn(t, problems, "--out: "+dir+"/shard-1-of-1.jsonl: it is of another explore: bounds differs")
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
		"no time":           {[]string{file, "--budget", "0s"}, "--budget 0s: want more than 0"},
		"unknown property":  {[]string{file, "--property", "V9"}, `unknown property "V9"`},
		"records of two":    {[]string{file, file, "--out", "x"}, "--out, --shard and --merge are of one scenario, not of 2"},
		"an unknown kind":   {[]string{file, "--add", "fire"}, `--add: "fire": want kinds of faults, of [crash `},
		"nothing to add":    {[]string{file, "--added", "2"}, "--added needs --add"},
		"too few to add":    {[]string{file, "--add", "crash", "--added", "-1"}, "-1 added faults: want 0 or more"},
		"random faults":     {[]string{worldFile(t, forgetful+"generate: {most: 2}\n")}, "generate: an exploration has no random faults"},
		"shard 3 of 2":      {[]string{file, "--shard", "3/2"}, `--shard: the shard "3/2": want i/n`},
		"shard of nowhere":  {[]string{file, "--shard", "1/2"}, "--shard: want --out"},
		"shard of nobody":   {[]string{file, "--shard", "auto/2"}, "neither SLURM_ARRAY_TASK_ID nor JOB_COMPLETION_INDEX is set"},
		"a file of others":  {[]string{file, "--out", file}, "--out: mkdir "},
		"nothing to merge":  {[]string{file, "--merge", "none.json"}, "--merge: none.json does not exist"},
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
