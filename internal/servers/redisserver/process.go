//go:build linux

package redisserver

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/lockstorm/lockstorm/internal/servers/child"
)

// process is one run of a server, from its start to its death. It implements [ServerRun].
type process struct {
	addr string
	log  string
	cmd  *exec.Cmd

	killed  atomic.Bool   // we killed it
	exited  chan struct{} // closed after its death
	exitErr error         // how it died; read after exited is closed
}

// launch starts a process. died is called if it dies and was not killed by us.
func launch(f *child.Forker, cmd *exec.Cmd, addr string, died func(error)) (*process, error) {
	log, err := os.OpenFile(filepath.Join(cmd.Dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer func() { _ = log.Close() }() // the process has its own copy
	p := &process{addr: addr, log: log.Name(), cmd: cmd, exited: make(chan struct{})}
	p.cmd.Stdout, p.cmd.Stderr = log, log
	if err := f.Start(p.cmd); err != nil {
		return nil, err
	}
	go p.watch(died)
	return p, nil
}

func (p *process) watch(died func(error)) {
	_ = p.cmd.Wait() // its error repeats the process state
	p.exitErr = fmt.Errorf("redis-server on %s died, and no fault of the plan killed it (%v); the end of its log:\n%s", p.addr, p.cmd.ProcessState, tail(p.log))
	close(p.exited)
	if !p.killed.Load() {
		died(p.exitErr)
	}
}

// kill ends the process by SIGKILL and waits until it is gone.
func (p *process) kill() {
	p.killed.Store(true)
	_ = p.cmd.Process.Kill() // fails only if it is already dead
	<-p.exited
}

// quit ends the process as an operator does, by SIGTERM, and waits until it is gone. After
// the timeout it kills it.
func (p *process) quit(timeout time.Duration) {
	p.killed.Store(true)
	_ = p.cmd.Process.Signal(syscall.SIGTERM) // fails only if it is already dead
	select {
	case <-p.exited:
	case <-time.After(timeout):
		p.kill()
	}
}

func (p *process) Ended() <-chan struct{} { return p.exited }
func (p *process) Death() error           { return p.exitErr }
func (p *process) Log() string            { return tail(p.log) }

// tail returns the last lines of a file, for an error message.
func tail(path string) string {
	const most = 10
	text, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return strings.Join(lines[max(0, len(lines)-most):], "\n")
}
