package cli

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
)

// lateRestart is the world of the documentation, in which the three random times may take 4 ms together
// instead of 50 µs.
func lateRestart(t *testing.T, expect string) string {
	t.Helper()
	text, err := os.ReadFile("../../docs/late-restart.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return worldFile(t, strings.NewReplacer("94.95ms", "91ms", "114.95ms", "111ms").Replace(string(text))+expect)
}

// The estimate has an interval that covers the truth, and a run that violates the property.
func TestRare(t *testing.T) {
	few := []string{"--particles", "100", "--moves", "6", "--repetitions", "6"}
	code, out, problems := command(t, append([]string{"rare", lateRestart(t, "")}, few...)...)
	want(t, "exit code", code, exitAsExpected)
	want(t, "on stderr", problems, "")
	wantIn(t, out, "violated with probability 0.001", "plain runs for the same interval", "LEVEL", "a run that violates it:\n  client 1 was granted")
	code, out, _ = command(t, append([]string{"rare", lateRestart(t, "expect: {lease: holds}\n"), "--json"}, few...)...)
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

// Without a figure the reason is printed.
func TestRareWithoutAFigure(t *testing.T) {
	code, out, _ := command(t, "rare", lateRestart(t, ""), "--runs", "500")
	want(t, "exit code", code, exitUndecided)
	wantIn(t, out, "no figure, after ", "the limit of runs was reached (500)")
	code, out, _ = command(t, "rare", lateRestart(t, ""), "--budget", "1ns")
	want(t, "exit code", code, exitUndecided)
	wantIn(t, out, "no figure, after 0 runs:\n  its time was over\n")
	never := strings.NewReplacer("nodes: 3", "nodes: 1").Replace(tinyWorld) // the holder always releases in time
	code, out, _ = command(t, "rare", worldFile(t, never), "--particles", "20", "--json")
	want(t, "exit code", code, exitUndecided)
	wantIn(t, out, `"probability": null`, `"reliable": false`, "the pilot came no closer to a violation than a distance of")
}

func TestRareBadInput(t *testing.T) {
	for says, args := range map[string][]string{
		"needs a SCENARIO":                             nil,
		"1 particles: want 10 to 100000":               {"calm", "--particles", "1"},
		"there is no distance to a violation of clean": {"calm", "--property", "L3"},
		"--budget -1s: want more than 0":               {"calm", "--budget", "-1s"},
		`unknown property "V9"`:                        {"calm", "--property", "V9"},
		"there is no distance for the lock etcd":       {"compare-calm-etcd"},
	} {
		code, out, problems := command(t, append([]string{"rare"}, args...)...)
		want(t, "exit code", code, exitBadInput)
		want(t, "on stdout", out, "")
		wantIn(t, problems, says)
	}
}
