package scenarios

import (
	"slices"
	"testing"
)

func TestRemarksAreOnWhatThereIs(t *testing.T) {
	var names []string
	for _, s := range All() {
		names = append(names, s.Name)
	}
	for _, s := range AllSeries() {
		names = append(names, s.Name)
	}
	for _, c := range Contenders() {
		names = append(names, "compare-"+c.Name)
	}
	for name := range remarks {
		if !slices.Contains(names, name) {
			t.Errorf("a remark on %q, which there is not", name)
		}
	}
}

func TestWords(t *testing.T) {
	const lock = "kind: redlock, ttl: 1s, drift_factor: 0.01, node_timeout: 50ms, linger: 200ms, margin: 50ms, retry: {min: 20ms, max: 80ms}, watchdog: {every: 333.333333ms}"
	if got := watched(quickLock).Words(); got != lock {
		t.Errorf("got %q, want %q", got, lock)
	}
	const client = "workload: section, resource: invoice-7, work: {min: 850ms, max: 920ms}, rounds: 1"
	if got := rivals[0].Words(); got != client {
		t.Errorf("got %q, want %q", got, client)
	}
}
