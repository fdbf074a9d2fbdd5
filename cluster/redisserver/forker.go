//go:build linux

package redisserver

import (
	"os/exec"
	"runtime"
	"syscall"
)

// forker starts processes that the kernel kills when we die.
//
// The kernel sends a child's Pdeathsig when the *thread* that forked it ends,
// and the Go runtime ends threads as it likes. So one goroutine, locked to its
// thread, does all the forking and lives until Close.
type forker struct {
	commands chan *exec.Cmd
	errs     chan error
}

func newForker() *forker {
	f := &forker{commands: make(chan *exec.Cmd), errs: make(chan error)}
	go f.run()
	return f
}

func (f *forker) run() {
	runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
	for cmd := range f.commands {
		f.errs <- cmd.Start()
	}
}

// start is [exec.Cmd.Start]. It is not safe for concurrent use.
func (f *forker) start(cmd *exec.Cmd) error {
	// A group of its own keeps the terminal's signals from the process.
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
	f.commands <- cmd
	return <-f.errs
}

// close ends the thread, which kills every process that still runs.
func (f *forker) close() { close(f.commands) }
