//go:build linux

package child

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/internal/testkit"
)

const childPatience = 2 * time.Minute

func startSleeper(t *testing.T, f *Forker) *exec.Cmd {
	t.Helper()
	cmd := exec.Command("sleep", "600")
	if err := f.Start(cmd); err != nil {
		t.Fatal(err)
	}
	return cmd
}

// A child dies with the forker's thread, as it does with this program, even if it is
// stopped.
func TestNobodyOutlivesTheForker(t *testing.T) {
	f := NewForker()
	running, standing := startSleeper(t, f), startSleeper(t, f)
	if err := Stop(standing.Process); err != nil {
		t.Fatal(err)
	}
	f.Close()
	mustBeKilled(t, running)
	mustBeKilled(t, standing)
}

// Close ends a thread whichever thread the runtime gives the forker first: every other new
// goroutine starts on the process's first thread, which never ends.
func TestForkerIsNeverOnTheFirstThread(t *testing.T) {
	for range 32 {
		f := NewForker()
		cmd := startSleeper(t, f)
		f.Close()
		mustBeKilled(t, cmd)
	}
}

func mustBeKilled(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	died := make(chan error, 1)
	go func() { died <- cmd.Wait() }()
	select {
	case err := <-died:
		if err == nil || err.Error() != "signal: killed" {
			t.Errorf("it ended: %v", err)
		}
	case <-time.After(childPatience):
		_ = cmd.Process.Kill()
		t.Fatal("it lives")
	}
}

// All threads of a process have stopped when Stop returns, and run again after Continue.
func TestStop(t *testing.T) {
	f := NewForker()
	defer f.Close()
	cmd := startSleeper(t, f)
	for range 3 {
		if err := Stop(cmd.Process); err != nil {
			t.Fatal(err)
		}
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", cmd.Process.Pid))
		if err != nil || !bytes.Contains(stat, []byte(") T ")) {
			t.Errorf("%s, %v", stat, err)
		}
		if err := Continue(cmd.Process); err != nil {
			t.Fatal(err)
		}
		for last := time.Now().Add(childPatience); Stopped(cmd.Process.Pid); time.Sleep(time.Millisecond) {
			if time.Now().After(last) {
				t.Fatal("it does not go on")
			}
		}
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	if !Stopped(cmd.Process.Pid) {
		t.Error("somebody who is gone moves")
	}
}

// The script runs in the directory before that is removed, with its arguments, and may
// change the shell's variables.
func TestReaperRunsTheScript(t *testing.T) {
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	out := filepath.Join(t.TempDir(), "out")
	r, err := StartReaper(`dir=/nowhere; cat here >"$1"; cd /`, out)
	if err != nil {
		t.Fatal(err)
	}
	testkit.Write(t, filepath.Join(r.Dir(), "here"), "text")
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
