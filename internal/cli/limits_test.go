package cli

import (
	"os"
	"testing"
)

// withLimits stores calm with limits in a file.
func withLimits(t *testing.T, limits string) {
	t.Helper()
	_, text, _ := command(t, "list", "calm")
	write(t, "limited.yaml", text+"limits:\n"+limits)
}

// A measurement outside its limit is a contradiction, in run and in ci, which print it with its
// interval. One that is too close to the limit leaves the command undecided.
func TestLimitsOfMeasurements(t *testing.T) {
	elsewhere(t)
	for limits, c := range map[string]struct {
		code int
		want []string
	}{
		"  acquire_p99: {max: 50ms}\n  availability: {min: 0.9}\n": {exitAsExpected, []string{"acquire_p99   50ms or less  ", "availability  90 % or more  "}},
		"  acquire_p99: {max: 1ms}\n":                              {exitContradiction, []string{"1ms or less  1.5", " to ", "violated"}},
		"  longest_outage: {max: 1ms}\n":                           {exitContradiction, []string{"1ms or less  ", "–", "violated"}},
	} {
		withLimits(t, limits)
		code, out, problems := command(t, "run", "limited.yaml", "--runs", "20", "--out", "")
		want(t, "exit code with "+limits+problems, code, c.code)
		wantIn(t, out, c.want...)
		code, out, _ = command(t, "ci", "limited.yaml", "--runs", "20")
		want(t, "exit code of ci with "+limits, code, c.code)
		if c.code == exitContradiction {
			wantIn(t, out, "limited.yaml, contradiction\n", "Again: lockstorm run limited.yaml --runs 20")
		}
	}
	withLimits(t, "  acquire_p99: {max: 1ms}\n")
	code, out, _ := command(t, "run", "limited.yaml", "--faults", "pause", "--runs", "5", "--out", "")
	if code != exitAsExpected {
		t.Errorf("limits of the plan bind runs with generated faults: %d\n%s", code, out)
	}
	for limits, says := range map[string]string{
		"  acquire_p98: {max: 1ms}\n":           "limits: unknown field acquire_p98: want acquire_p50, acquire_p99, ",
		"  acquire_p99: {}\n":                   "limits.acquire_p99: want min, max or both, above 0",
		"  acquire_p99: {min: 2ms, max: 1ms}\n": "limits.acquire_p99: max is below min",
		"  availability: {min: 99}\n":           "limits.availability.min",
		"  availability: 0.9\n":                 "limits.availability",
	} {
		withLimits(t, limits)
		code, _, problems := command(t, "run", "limited.yaml")
		want(t, "exit code", code, exitBadInput)
		wantIn(t, problems, "limited.yaml: line ", says)
		if _, err := os.Stat("runs"); err == nil {
			t.Error("something was stored")
		}
	}
}
