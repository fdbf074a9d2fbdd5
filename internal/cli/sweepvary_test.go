package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestParseVaried(t *testing.T) {
	for text, want := range map[string]string{
		"lock.ttl=0.5s..1s:3":             "500ms 750ms 1s|0.5 0.75 1 s",
		"plan[0].end.after=0..1ms:3":      "0s 500µs 1ms|0 0.5 1 ms",
		"lock.retry.max=10ms..100ms:4":    "10ms 40ms 70ms 100ms|10 40 70 100 ms",
		"nodes=3..5":                      "3 4 5|3 4 5 ",
		"lock.drift_factor=0.01..0.02:3":  "0.01 0.015 0.02|0.01 0.015 0.02 ",
		"lock.ttl=1s,200ms":               "1s 200ms|1 0.2 s",
		"lock.kind=redlock,single-node":   "redlock single-node|words",
		"plan[0].clock-rate.ppm=-5..5:11": "-5 -4 -3 -2 -1 0 1 2 3 4 5|-5 -4 -3 -2 -1 0 1 2 3 4 5 ",
	} {
		v, err := parseVaried(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		got := strings.Join(v.values, " ") + "|words"
		if v.numbers != nil {
			got = strings.Join(v.values, " ") + "|" + strings.Trim(strings.ReplaceAll(strings.Trim(jsonText(t, v.numbers), "[]"), ",", " "), " ") + " " + v.unit
		}
		if got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
}

// A sweep over a user's scenario has what the built-in ones have: tables, pictures and the scenario of
// each point.
func TestSweepOverAScenario(t *testing.T) {
	dir := t.TempDir()
	_, text, _ := command(t, "list", "delayed-restart")
	file := filepath.Join(dir, "mine.yaml")
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	args := []string{"sweep", file, "--vary", "plan[1].end.after=0.25s..1.25s:3", "--vary", "lock.ttl=500ms,1s", "--runs", "20"}
	out := filepath.Join(dir, "whole")
	code, printed, problems := command(t, append(args, "--out", out)...)
	want(t, "exit code", code, exitAsExpected)
	want(t, "problems", problems, "")
	wantIn(t, printed, "delayed-restart: delayed-restart by plan[1].end.after, lock.ttl", "lease exclusion (V1) violated", "\nlock.ttl=500ms\n", "\nlock.ttl=1s\n")
	for _, row := range []string{"1  0.25 ", "4  0.25 ", "5  0.75 "} {
		if !strings.Contains(printed, "\n"+row) || !strings.Contains(printed[strings.Index(printed, "\n"+row):], "20/20") {
			t.Errorf("no row %q with 20 of 20 violated in:\n%s", row, printed)
		}
	}
	for _, name := range []string{"outcomes.jsonl", "points.csv", "summary.md", "delayed-restart.svg"} {
		if _, err := os.Stat(filepath.Join(out, name)); err != nil {
			t.Error(err)
		}
	}
	summary, err := os.ReadFile(filepath.Join(out, "summary.md"))
	if err != nil {
		t.Fatal(err)
	}
	wantIn(t, string(summary), "Made by `lockstorm sweep "+file+" --vary 'plan[1].end.after=0.25s..1.25s:3' --vary lock.ttl=500ms,1s --property V1 --runs 20 --seed 1 --out DIR`")

	_, point, _ := command(t, append(slices.Clone(args[:len(args)-2]), "--show", "5")...)
	wantIn(t, point, "name: delayed-restart-5\n", "after: 750ms", "ttl: 1s")
}

func TestSweepOverAScenarioBadInput(t *testing.T) {
	for args, text := range map[string]string{
		"calm":                                               `unknown sweep "calm"`,
		"mine.yaml":                                          "mine.yaml: a scenario needs --vary, such as --vary lock.ttl=0.5s..5s",
		"restart-delay --property V1":                        "--property needs --vary",
		"nowhere --vary lock.ttl=1s":                         `unknown scenario "nowhere"`,
		"calm --vary lock.ttl":                               `--vary "lock.ttl": want PATH=FROM..TO`,
		"calm --vary lock.ttl=1s..":                          "1s..: want two durations or two numbers",
		"calm --vary lock.ttl=2s..1s":                        "want a range from a lower to a higher value",
		"calm --vary lock.ttl=1s..2s:1":                      `"1" steps: want 2 to 10000`,
		"calm --vary lock.ttl=1s,1s":                         "a value occurs twice",
		"calm --vary lock.ttll=1s,2s":                        "--vary: lock.ttll=1s: lock: unknown field ttll; the nearest",
		"calm --vary lock.ttl=1us,2s":                        "--vary: lock.ttl=1us: lock.ttl: ",
		"calm --vary lock.kind=redlock":                      "--vary: want numbers or durations for at least one field",
		"calm --vary nodes=3,5 --vary nodes=7":               "--vary: nodes is varied twice",
		"calm --vary nodes=3,5 --property V9":                `--property: unknown property "V9"`,
		"calm --vary lock.ttl=1s..2s:10000 --vary nodes=3,5": "--vary: more than 10000 points",
	} {
		code, _, problems := command(t, append([]string{"sweep"}, strings.Fields(args)...)...)
		want(t, args+": exit code", code, exitBadInput)
		wantIn(t, problems, text)
	}
}

func jsonText(t *testing.T, value any) string {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
