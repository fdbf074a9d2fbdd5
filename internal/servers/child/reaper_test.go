//go:build linux

package child

import (
	"os"
	"path/filepath"
	"testing"
)

// The script runs in the directory before that is removed, with its arguments, and
// whatever it does to the shell's variables.
func TestReaperRunsTheScript(t *testing.T) {
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	out := filepath.Join(t.TempDir(), "out")
	r, err := StartReaper(`dir=/nowhere; cat here >"$1"; cd /`, out)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(r.Dir(), "here"), []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if got, _ := os.ReadFile(out); string(got) != "text" {
		t.Errorf("the script has written %q", got)
	}
	if left, _ := os.ReadDir(tmp); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}
