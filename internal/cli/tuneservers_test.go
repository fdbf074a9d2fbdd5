//go:build linux

package cli

import (
	"path/filepath"
	"testing"
)

// The scenarios of an advice run on real servers as they are written: the recommended restart delay
// holds, and a shorter one does not. On a busy machine the clients of a run of the control may not be
// granted the lock in time, so it has several.
func TestTuneOnRealServers(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "advice")
	code, _, problems := command(t, "tune", "nodes=3", "round_trip=10ms..30ms", "clocks.rate_ppm=500", "pauses=[{every: 1h, length: 10ms}]",
		"hold=500ms", "want.violations_per_billion=1", "--runs", "2", "--out", dir)
	if code != exitAsExpected {
		t.Fatalf("exit code %d: %s", code, problems)
	}
	if _, violated := leases(t, filepath.Join(dir, "restart.yaml"), 2); violated > 0 {
		t.Errorf("%d of 2 runs violated lease exclusion in spite of the delay", violated)
	}
	for range 10 {
		if _, violated := leases(t, filepath.Join(dir, "restart-too-early.yaml"), 1); violated > 0 {
			return
		}
	}
	t.Error("no run of the control violated lease exclusion")
}
