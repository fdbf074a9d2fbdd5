//go:build linux

package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"sync/atomic"
	"syscall"
)

// mark is a variable in the environment of all processes of a run, by which those that a
// test left behind are found.
const mark = "LOCKSTORM_FLAKE_RUN"

// command is a command in a process group of its own, so that Ctrl-C reaches us alone, and
// which is killed with its children when ctx ends. The kernel kills it when the thread ends
// that started it, at the latest with us; who calls Start is locked to a thread.
func command(ctx context.Context, dir, name string, words ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, words...)
	cmd.Dir = dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	return cmd
}

// sweep kills the processes that have a mark, and returns how many there were.
func sweep(marked string) (n int) {
	files, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil || !bytes.Contains(append([]byte{0}, text...), []byte("\x00"+marked+"\x00")) {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		if err == nil && pid != os.Getpid() && syscall.Kill(pid, syscall.SIGKILL) == nil {
			n++
		}
	}
	return n
}

// spinning is the word that makes this program one that keeps a core busy.
const spinning = "spin"

// spin keeps a core busy until stdin ends, which it does when whoever started us does.
func spin(stdin io.Reader) {
	go func() {
		_, _ = io.Copy(io.Discard, stdin)
		os.Exit(0)
	}()
	for n := 0; ; n++ {
		spun.Store(uint64(n))
	}
}

var spun atomic.Uint64 // so that the loop is one

// keepBusy starts a process for each core that keeps it busy until stop is called.
func keepBusy() (stop func(), err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	var spinners []*exec.Cmd
	stop = func() {
		cancel()
		for _, s := range spinners {
			_ = s.Wait()
		}
	}
	for range runtime.NumCPU() {
		s := command(ctx, "", self, spinning)
		if _, err := s.StdinPipe(); err != nil {
			stop()
			return nil, err
		}
		if err := s.Start(); err != nil {
			stop()
			return nil, err
		}
		spinners = append(spinners, s)
	}
	return stop, nil
}
