//go:build linux

package cli

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A disk that is full still has empty files: whether it holds what a command writes shows when something
// is written.
func TestFullDiskIsNoticed(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := fill(full); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("of a full disk: %v", err)
	}
	dir := t.TempDir()
	if err := holds(filepath.Join(dir, "new", "newer")); err != nil {
		t.Errorf("of a directory that does not exist: %v", err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// Law: a command whose results cannot be written ends before its work.
func TestCommandsNoticeBeforeTheirWork(t *testing.T) {
	elsewhere(t)
	write(t, "file", "")
	for _, line := range []string{
		"run calm --out file/x", "run calm --report file/x", "hunt --out file/x", "debate calm --out file/x", "compare --out file/x",
		"replay v1.calm.1.x --out file/x", "replay v1.calm.1.x --report .", "tune --out file/x",
		"sweep drift --out file/x", "explore calm --out file/x", "test --out file/x -- true", "ci --out file/x", "ci --junit file/x", "ci --summary file/x",
	} {
		code, out, problems := command(t, strings.Fields(line)...)
		if code != exitBadInput || out != "" || !strings.Contains(problems, " file") && !strings.Contains(problems, "is a directory") {
			t.Errorf("%s: exit code %d, printed %q and %q", line, code, out, problems)
		}
	}
}
