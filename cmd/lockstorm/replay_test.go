package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/storm"
)

var pasted = regexp.MustCompile(`lockstorm replay (\S+)`)

// What run prints of a storm is repeated by replay, from the string and from
// the directory, and judged again by check.
func TestReplay(t *testing.T) {
	dir := t.TempDir()
	code, out, _ := command(t, "run", "crash-restart", "--faults", "all", "--runs", "3", "--seed", "5", "--out", dir)
	want(t, "exit code", code, exitContradiction)
	wantIn(t, out, "crash-restart: violations in ", " of 3 runs; with generated faults nothing is expected", "lease exclusion violated (seed 5): ")
	found := pasted.FindStringSubmatch(out)
	if found == nil || len(found[1]) > storm.MaxReplay {
		t.Fatalf("no replay string in\n%s", out)
	}
	story := func(text string) string {
		_, story, _ := strings.Cut(text, "lease exclusion violated")
		story, _, _ = strings.Cut(story, "\n")
		return story
	}

	code, again, _ := command(t, "replay", found[1], "--out", dir)
	want(t, "exit code of the replay", code, exitContradiction)
	want(t, "story", story(again), story(out))
	stored := filepath.Join(dir, "crash-restart-sim-5")
	wantIn(t, again, found[0], "stored in "+stored+".2\nthe same run: its trace is ")

	code, again, _ = command(t, "replay", stored, "--out", dir)
	want(t, "exit code of the replay of the directory", code, exitContradiction)
	want(t, "story", story(again), story(out))
	wantIn(t, again, "the same run: its trace is ")

	code, again, _ = command(t, "check", stored)
	want(t, "exit code of check", code, exitContradiction)
	want(t, "story", story(again), story(out))
}

// A stored run holds the plan that was drawn, and nothing that draws.
func TestStoredStorm(t *testing.T) {
	dir := t.TempDir()
	command(t, "run", "calm", "--faults", "crash", "--out", dir)
	text, err := os.ReadFile(filepath.Join(dir, "calm-sim-1", "run.json"))
	if err != nil {
		t.Fatal(err)
	}
	wantIn(t, string(text), `"plan": [`, `"crash": {`)
	for _, no := range []string{`"generate"`, `"expect"`} {
		if strings.Contains(string(text), no) {
			t.Errorf("%s in:\n%s", no, text)
		}
	}
}

func TestReplayOfAnotherRun(t *testing.T) {
	code, out, _ := command(t, "replay", storm.Replay{Scenario: "calm", Seed: 1, Trace: 1}.String(), "--out", "")
	want(t, "exit code", code, exitContradiction)
	wantIn(t, out, "calm: as expected (1 run)", "not the same run: its trace is ", ", and was 00000001. This program or the scenario is not the one that it was.")
}

// A scenario in a file has no replay string: its runs are repeated from their
// directories, or by the same command line.
func TestStormOverAFile(t *testing.T) {
	dir := t.TempDir()
	_, text, _ := command(t, "show", "crash-restart")
	file := filepath.Join(dir, "mine.yaml")
	if err := os.WriteFile(file, []byte(text+"generate: {most: 2, faults: {latency: 1}}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	code, out, _ := command(t, "run", file, "--out", dir)
	want(t, "exit code: what the file expects counts", code, exitAsExpected)
	stored := filepath.Join(dir, "crash-restart-sim-1")
	wantIn(t, out, "1     V1 V2 V3  lockstorm replay "+stored+"\n")
	code, out, _ = command(t, "replay", stored, "--out", "")
	want(t, "exit code of the replay", code, exitAsExpected)
	wantIn(t, out, "the same run: ")

	_, out, _ = command(t, "run", file, "--out", "", "--faults", "pause:2", "--most", "1")
	wantIn(t, out, "lockstorm run "+file+" --faults pause:2 --most 1 --seed 1\n")
}

// Each object of a storm has its replay string, whether it violates something
// or not.
func TestReplayStringsInJSON(t *testing.T) {
	_, out, _ := command(t, "run", "calm", "--faults", "all", "--runs", "3", "--json", "--out", "")
	for _, l := range strings.Split(strings.TrimSuffix(out, "\n"), "\n") {
		var o struct{ Replay string }
		if err := json.Unmarshal([]byte(l), &o); err != nil {
			t.Fatal(err)
		}
		if _, err := storm.ParseReplay(o.Replay); err != nil {
			t.Error(err)
		}
	}
}

func TestManyFailuresAreNotAllListed(t *testing.T) {
	_, out, _ := command(t, "run", "crash-restart", "--faults", "latency", "--runs", "60", "--out", "")
	want(t, "replay strings", len(pasted.FindAllString(out, -1)), mostFailures)
	wantIn(t, out, " more; --json lists all runs\n")
}
