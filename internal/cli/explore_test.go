package cli

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
)

// forgetful is a file with the world of two clients and a node that crashes.
const forgetful = "testdata/scene/forgetful.yaml"

// A violation has a string that repeats the run. The same string in another world is said to be of another run, and of
// another scenario it is refused.
func TestExploreFindsAndRepeats(t *testing.T) {
	code, out, _ := command(t, "explore", forgetful, "--bounds", "tick=5ms", "--property", "V1", "--format", "json")
	want(t, "exit code", code, exitContradiction)
	var got explorationJSON
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatal(err)
	}
	f := got.Find
	if got.Verdict != "violated" || !got.Finished || got.Executions == 0 || got.States == 0 || got.Bounds.Faults != 1 || f == nil || f.Events == 0 || f.Faults != 1 || len(f.Deviations) != 1 {
		t.Fatalf("%+v, %+v", got, f)
	}
	world := filepath.Join(t.TempDir(), "world.yaml")
	again := func(old, replaced string) (code int, out, problems string) {
		write(t, world, strings.Replace(read(t, forgetful), old, replaced, 1))
		return command(t, "replay", f.Replay, "--scenario", world, "--out", "")
	}
	code, out, _ = again("", "")
	want(t, "exit code", code, exitContradiction)
	wantIn(t, out, f.Deviations[0], "the same run: its trace hash is ")
	code, out, _ = again("max: 10100us", "max: 9100us")
	want(t, "exit code", code, exitContradiction)
	wantIn(t, out, "not the same run: its trace hash is ")
	code, _, problems := again("name: forgetful", "name: other")
	want(t, "exit code", code, exitBadInput)
	wantIn(t, problems, `it is the scenario "other", and the replay string is of "forgetful"`)
	code, _, problems = command(t, "replay", f.Replay)
	want(t, "exit code", code, exitBadInput)
	wantIn(t, problems, `unknown scenario "forgetful"`, "of a scenario in a file, name that with --scenario")
}

// A find with an added fault is repeated from its string: with its point of no return, as a Go test, and from the
// directory of the run.
func TestReplayOfAddedFaults(t *testing.T) {
	_, out, _ := command(t, "explore", "pause-after-step-3", "--bounds", "faults=0", "--add", "pause", "--deviations", "0", "--property", "V2")
	_, text, _ := strings.Cut(strings.TrimSpace(out), "again: lockstorm replay ")
	wantIn(t, text, "v1.pause-after-step-3.1.", ",fpause")
	dir := t.TempDir()
	code, out, _ := command(t, "replay", text, "--inevitable", "--out", dir)
	want(t, "exit code", code, exitContradiction)
	wantIn(t, out, "Point of no return", "client 1 is paused", "If one of the last ", "the same run: its trace hash is ")
	code, out, _ = command(t, "replay", filepath.Join(dir, "pause-after-step-3-sim-1"), "--out", "")
	want(t, "exit code", code, exitContradiction)
	wantIn(t, out, "the same run: its trace hash is ")
	_, out, _ = command(t, "replay", text, "--go")
	wantIn(t, out, "replay: v1.pause-after-step-3.1..l2d2.")
}

// The interval of an estimate covers the truth, and a run that violates the property comes with it.
func TestRareCoversTheTruth(t *testing.T) {
	file := filepath.Join(t.TempDir(), "late.yaml")
	text := read(t, "../../docs/late-restart.yaml") // in which the three random times may take 4 ms together, not 50 µs
	write(t, file, strings.NewReplacer("94.95ms", "91ms", "114.95ms", "111ms").Replace(text)+"expect: {lease: holds}\n")
	code, out, _ := command(t, "rare", file, "--particles", "100", "--moves", "6", "--repetitions", "6", "--format", "json")
	want(t, "exit code", code, exitContradiction)
	var got rareJSON
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatal(err)
	}
	const truth = 0.2 * 0.2 * 0.2 / 6
	if !got.Reliable || *got.Low > truth || *got.High < truth || *got.PlainRuns < 1 || got.Runs == 0 || got.Story == "" || len(got.Levels) < 3 {
		t.Errorf("%s", out)
	}
}
