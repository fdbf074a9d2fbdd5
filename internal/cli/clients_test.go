//go:build linux

package cli

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// Rows show the same with clients as processes that are stopped, and the commands that repeat a run
// say --clients processes.
func TestClientsAsProcesses(t *testing.T) {
	for _, row := range []string{"crash-restart", "pause-after-step-3"} {
		t.Run(row, func(t *testing.T) {
			t.Parallel()
			code, out, problems := decided(t, "debate", row, "--backend", "process", "--clients", "processes", "--runs", "2")
			if code != exitAsExpected {
				t.Errorf("exit code %d\n%s%s", code, out, problems)
			}
			wantIn(t, out, "--backend process --clients processes")
		})
	}
}

// killedAndCancelled is a scenario in which one client dies with the lock in its hand, and
// the other is interrupted.
const killedAndCancelled = `
name: killed-and-cancelled
lock: {kind: redlock, ttl: 500ms, drift_factor: 0.01, node_timeout: 200ms, retry: {min: 5ms, max: 20ms}}
clients:
  - {workload: section, resource: r, work: {min: 5ms, max: 5ms}, rounds: 3}
  - {workload: section, resource: r, work: {min: 5ms, max: 5ms}, rounds: 3}
nodes: 3
persistence: none
latency: {min: 1ms, max: 1ms}
guard: plain
horizon: 20s
plan:
  - kill: {client: 1}
    start: {client: 1, step: before-write}
  - cancel: {client: 2}
    start: {client: 2, step: before-send, count: 2}
bounds: {acquire: 5s, extend: 5s, release: 5s, grant: 10s}
expect: {lease: holds, section: holds, effect: holds, deadlock_freedom: holds}
`

func TestClientsAsProcessesAreKilledAndCancelled(t *testing.T) {
	t.Parallel()
	dir, file := t.TempDir(), filepath.Join(t.TempDir(), "mine.yaml")
	write(t, file, killedAndCancelled)
	code, out, problems := decided(t, "run", file, "--backend", "process", "--clients", "processes", "--out", dir)
	if code != exitAsExpected {
		t.Errorf("exit code %d\n%s%s", code, out, problems)
	}
	stored := filepath.Join(dir, "killed-and-cancelled-process-1")
	wantIn(t, read(t, filepath.Join(stored, "history.jsonl")), `"kind":"kill","client":1`, `"kind":"cancel","client":2`)
	wantIn(t, read(t, filepath.Join(stored, "run.json")), `"clients": "processes"`)
}

// Whatever ends the command, its clients end as well, also one that stands still.
func TestNoClientSurvivesTheCommand(t *testing.T) {
	command := func(t *testing.T) []string {
		return []string{"run", "pause-then-write", "--runs", "9", "--backend", "process", "--clients", "processes", "--out", t.TempDir()}
	}
	wantNothingSurvives(t, command, 5, func(t *testing.T, temp string, _ syscall.Signal) {
		soon(t, "no client is left", func() bool { return clientsBelow(temp) == 0 })
	})
}

// clientsBelow counts the processes of clients whose directory for temporary files is this.
func clientsBelow(temp string) (n int) {
	environs, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, name := range environs {
		text, err := os.ReadFile(name)
		if err == nil && strings.Contains(string(text), "LOCKSTORM_CLIENT=1") && strings.Contains(string(text), "TMPDIR="+temp+"\x00") {
			n++
		}
	}
	return n
}
