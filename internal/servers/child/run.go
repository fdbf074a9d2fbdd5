package child

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// Run is one run of a server, from its start to its death.
type Run struct {
	name string // of the server, for errors
	log  string
	cmd  *exec.Cmd

	killed  atomic.Bool   // we killed it
	exited  chan struct{} // closed after its death
	exitErr error         // how it died; read after exited is closed
}

// launch starts a process. died is called if it dies and was not killed by us.
func launch(f *Forker, cmd *exec.Cmd, name string, died func(error)) (*Run, error) {
	log, err := os.OpenFile(filepath.Join(cmd.Dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer func() { _ = log.Close() }() // the process has its own copy
	r := &Run{name: name, log: log.Name(), cmd: cmd, exited: make(chan struct{})}
	r.cmd.Stdout, r.cmd.Stderr = log, log
	if err := f.Start(r.cmd); err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	go r.watch(died)
	return r, nil
}

func (r *Run) watch(died func(error)) {
	_ = r.cmd.Wait() // its error repeats the process state
	r.exitErr = fmt.Errorf("%s died, and no fault of the plan killed it (%v); %s", r.name, r.cmd.ProcessState, ending(r.Log()))
	close(r.exited)
	if !r.killed.Load() {
		died(r.exitErr)
	}
}

// ending describes the end of a log in an error.
func ending(log string) string {
	if strings.TrimSpace(log) == "" {
		return "its log is empty"
	}
	return "the end of its log:\n" + log
}

// Kill ends the process by SIGKILL and waits until it is gone.
func (r *Run) Kill() {
	r.killed.Store(true)
	_ = r.cmd.Process.Kill() // fails only if it is already dead
	<-r.exited
}

// Quit ends the process as an operator does, by a signal, and waits until it is gone. After
// the timeout it kills it.
func (r *Run) Quit(signal syscall.Signal, timeout time.Duration) {
	r.killed.Store(true)
	_ = r.cmd.Process.Signal(signal) // fails only if it is already dead
	select {
	case <-r.exited:
	case <-time.After(timeout):
		r.Kill()
	}
}

// Ended implements [ServerRun].
func (r *Run) Ended() <-chan struct{} { return r.exited }

// Death implements [ServerRun].
func (r *Run) Death() error { return r.exitErr }

// Log returns the last lines of the log, for an error message.
func (r *Run) Log() string {
	const most = 10
	text, err := os.ReadFile(r.log)
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return strings.Join(lines[max(0, len(lines)-most):], "\n")
}
