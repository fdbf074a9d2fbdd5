//go:build unix

package main

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

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
