package scenarios

import (
	"testing"
)

func TestWords(t *testing.T) {
	const lock = "kind: redlock, ttl: 1s, drift_factor: 0.01, node_timeout: 50ms, linger: 200ms, margin: 50ms, retry: {min: 20ms, max: 80ms}, watchdog: {every: 333.333333ms}"
	if got := watched(quickLock).Words(); got != lock {
		t.Errorf("got %q, want %q", got, lock)
	}
	row, err := Find("crash-restart")
	if err != nil {
		t.Fatal(err)
	}
	const client = "workload: section, resource: invoice-7, work: {min: 850ms, max: 920ms}, rounds: 1"
	if got := row.Clients[0].Words(); got != client {
		t.Errorf("got %q, want %q", got, client)
	}
}
