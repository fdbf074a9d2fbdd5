//go:build unix

package cli

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// If the reader of the output stops reading ("| head"), the page is written, the exit code is that
// of the verdict, and runs whose output nobody reads are not made.
func TestReaderOfTheOutputHasGone(t *testing.T) {
	for _, c := range []struct {
		args string
		code int
		page bool
	}{
		{"run crash-restart --runs 20 --out= --report r.html", exitAsExpected, true},
		{"debate calm --runs 5 --format markdown", exitUndecided, false},
		{"run calm --runs 100000000 --format json --out=", exitUndecided, false},
	} {
		read, written, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		_ = read.Close()
		cmd := exec.CommandContext(t.Context(), os.Args[0], strings.Fields(c.args)...)
		cmd.Dir = t.TempDir()
		cmd.Env = append(os.Environ(), asCommand+"=1")
		var problems bytes.Buffer
		cmd.Stdout, cmd.Stderr = written, &problems
		_ = cmd.Run()
		_ = written.Close()
		want(t, "exit code of "+c.args, cmd.ProcessState.ExitCode(), c.code)
		if strings.Contains(problems.String(), "lockstorm: ") {
			t.Errorf("%s: printed %q", c.args, problems.String())
		}
		if _, err := os.Stat(filepath.Join(cmd.Dir, "r.html")); (err == nil) != c.page {
			t.Errorf("%s: %v; printed %q", c.args, err, problems.String())
		}
	}
}

// A pipe that has a name, and to which nobody writes, can be given up.
func TestCheckOfASilentPipe(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(10*time.Millisecond, cancel)
	var out, problems bytes.Buffer
	code := execute(ctx, []string{"check", pipe}, strings.NewReader(""), &out, &problems)
	want(t, "exit code", code, exitUndecided)
	want(t, "on stderr", problems.String(), "lockstorm: "+pipe+": interrupted\n")
}
