package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// spinning is a file of a scenario in which neither messages nor retries take any time.
func spinning(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "spin.yaml")
	const text = `name: spin
lock: {kind: redlock, ttl: 50ms, drift_factor: 0.01, node_timeout: 1ms, linger: 5ms, margin: 0s, quarantine: 100ms, tokens: time, retry: {min: 0s, max: 0s}}
clients:
  - {workload: hold, resource: r, work: {min: 100ms, max: 100ms}, rounds: 1}
  - {workload: hold, resource: r, work: {min: 100ms, max: 100ms}, rounds: 1}
nodes: 3
persistence: none
latency: {min: 0s, max: 0s}
guard: plain
horizon: 200ms
`
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

// A scenario that cannot come to its horizon is warned of; a run of it ends, says who spins
// and when, and is no success.
func TestSpinningScenarios(t *testing.T) {
	file := spinning(t)
	code, out, _ := command(t, "run", "--check-only", file)
	want(t, "exit code of validate", code, exitAsExpected)
	wantIn(t, out, file+": ok (", file+": warning: lock.retry: 0s, and messages take no time either: a client that finds the lock taken tries again at the same instant, so time does not move")
	code, out, _ = command(t, "run", file, "--out", "")
	want(t, "exit code of run", code, exitUndecided)
	wantIn(t, out, "no progress: time does not move: client 1 spins at 0s", "Properties not violated until then are unknown.")
	code, _, problems := command(t, "hunt", file, "--runs", "5", "--out", "", "--property", "V1")
	if strings.Contains(problems, "panic") || code == exitBadInput {
		t.Errorf("a hunt around it exits with %d: %s", code, problems)
	}
}

// The events of a run have the bound that a flag states, and a run that comes to it is no
// success.
func TestMaxEvents(t *testing.T) {
	code, out, _ := command(t, "run", "calm", "--out", "", "--max-events", "1000")
	want(t, "exit code", code, exitUndecided)
	wantIn(t, out, "bound exceeded: 1000 events by ", "(max_events): client ")
	code, _, _ = command(t, "run", "calm", "--out", "", "--max-events", "1000000")
	want(t, "exit code with enough", code, exitAsExpected)
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"run", "calm", "--max-events", "0"}, "--max-events 0: want at least 1"},
		{[]string{"hunt", "--shrink", "0s"}, "--shrink 0s: want more than 0"},
	} {
		code, _, problems := command(t, c.args...)
		want(t, "exit code", code, exitBadInput)
		wantIn(t, problems, c.want)
	}
}

// A find for which there was no time to shrink it is kept as it was found, and says so.
func TestShrinkingWithoutTime(t *testing.T) {
	code, out, _ := command(t, "hunt", "--lock", "single-node", "--property", "V1", "--runs", "300", "--out", "", "--shrink", "1ns")
	want(t, "exit code", code, exitContradiction)
	wantIn(t, out, "; not fully shrunk: time limit (--shrink)")
}
