//go:build linux

package cli

import (
	"os"
	"path/filepath"
	"testing"
)

// The scenarios of an advice run on real servers as they are written: the recommended restart delay
// holds, and a shorter one does not. On a busy machine the clients of a run of the control may not be
// granted the lock in time, so it has several.
func TestTuneOnRealServers(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "advice")
	code, _, problems := command(t, "tune", "nodes=3", "round-trip=10ms..30ms", "clock-ppm=500", "pause-bound=10ms",
		"hold=500ms", "violations=1", "--runs", "2", "--out", dir)
	if code != exitAsExpected {
		t.Fatalf("exit code %d: %s", code, problems)
	}
	for name, said := range map[string]string{
		"restart":           "# This scenario must hold: the nodes return after the recommended delay, ",
		"restart-too-early": "# This scenario must be violated: the nodes return after ",
	} {
		file := filepath.Join(dir, serversDir, name+".yaml")
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		wantIn(t, string(text), said, "\n  drift_factor: 0.01\n", "\n  - crash:\n      node: 1\n")
	}
	if _, violated := leases(t, filepath.Join(dir, serversDir, "restart.yaml"), 2); violated > 0 {
		t.Errorf("%d of 2 runs violated lease exclusion in spite of the delay", violated)
	}
	for range 10 {
		if _, violated := leases(t, filepath.Join(dir, serversDir, "restart-too-early.yaml"), 1); violated > 0 {
			return
		}
	}
	t.Error("no run of the control violated lease exclusion")
}
