//go:build linux

package child

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Forker starts processes that the kernel kills when this program dies.
//
// The kernel sends a child's Pdeathsig when the *thread* that forked it ends, and the Go
// runtime ends threads at will. So one goroutine, locked to its thread, forks all children
// and lives until Close.
type Forker struct {
	mu       sync.Mutex
	commands chan *exec.Cmd
	errs     chan error
}

// NewForker returns a forker. It has to be closed.
func NewForker() *Forker {
	f := &Forker{commands: make(chan *exec.Cmd), errs: make(chan error)}
	ready := make(chan struct{})
	go f.run(ready)
	<-ready
	return f
}

// run forks the commands of Start. It closes ready when it runs on a thread that ends with
// its goroutine. That is every thread but the process's first, which the runtime parks
// instead.
func (f *Forker) run(ready chan<- struct{}) {
	runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
	if syscall.Gettid() == syscall.Getpid() {
		defer runtime.UnlockOSThread()
		other := make(chan struct{})
		go f.run(other)
		<-other // the first thread is held until then, so the other goroutine cannot get it
		close(ready)
		return
	}
	close(ready)
	for cmd := range f.commands {
		f.errs <- cmd.Start()
	}
}

// Start is [exec.Cmd.Start] for a command without SysProcAttr, except for a Credential. It
// must not be called after Close.
func (f *Forker) Start(cmd *exec.Cmd) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	var user *syscall.Credential
	if cmd.SysProcAttr != nil {
		user = cmd.SysProcAttr.Credential
	}
	// In its own process group the child gets no signals from the terminal.
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true, Credential: user}
	f.commands <- cmd
	return <-f.errs
}

// Close ends the thread. The kernel then kills every process that still runs.
func (f *Forker) Close() { close(f.commands) }

// stopTimeout bounds how long it may take until all threads of a process have stopped.
const stopTimeout = 10 * time.Second

// Stop stops a process with SIGSTOP and waits until all its threads have stopped.
func Stop(p *os.Process) error {
	if err := p.Signal(syscall.SIGSTOP); err != nil {
		return os.NewSyscallError("kill", err)
	}
	for last := time.Now().Add(stopTimeout); !Stopped(p.Pid); time.Sleep(100 * time.Microsecond) {
		if time.Now().After(last) {
			return fmt.Errorf("process %d has not stopped %v after SIGSTOP", p.Pid, stopTimeout)
		}
	}
	return nil
}

// Continue lets a stopped process run again.
func Continue(p *os.Process) error { return os.NewSyscallError("kill", p.Signal(syscall.SIGCONT)) }

// Stopped reports whether all threads of a process have stopped, or the process is gone.
func Stopped(pid int) bool {
	threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
	for _, t := range threads {
		stat, err := os.ReadFile(t)
		if err != nil {
			continue // the thread has ended
		}
		text := string(stat) // the name in front of the state may contain anything
		state := text[strings.LastIndexByte(text, ')')+1:]
		if !strings.HasPrefix(state, " T") && !strings.HasPrefix(state, " Z") { // stopped, or dead and not yet waited for
			return false
		}
	}
	return true
}

// StopGroup stops the process group that a process leads, with SIGSTOP, and waits until all threads of
// its processes have stopped.
func StopGroup(leader *os.Process) error {
	if err := signalGroup(leader, syscall.SIGSTOP); err != nil {
		return err
	}
	for last := time.Now().Add(stopTimeout); ; time.Sleep(100 * time.Microsecond) {
		if !slices.ContainsFunc(members(leader.Pid), func(pid int) bool { return !Stopped(pid) }) {
			return nil
		}
		if time.Now().After(last) {
			return fmt.Errorf("the process group %d has not stopped %v after SIGSTOP", leader.Pid, stopTimeout)
		}
	}
}

// ContinueGroup lets a stopped process group run again.
func ContinueGroup(leader *os.Process) error { return signalGroup(leader, syscall.SIGCONT) }

// KillGroup ends a process group with SIGKILL.
func KillGroup(leader *os.Process) error { return signalGroup(leader, syscall.SIGKILL) }

func signalGroup(leader *os.Process, s syscall.Signal) error {
	return os.NewSyscallError("kill", syscall.Kill(-leader.Pid, s))
}

// members lists the processes of a group.
func members(group int) (pids []int) {
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range stats {
		text, err := os.ReadFile(path)
		if err != nil {
			continue // the process has ended
		}
		var pid, parent, in int
		var state string
		rest := text[bytes.LastIndexByte(text, ')')+1:] // the name before it may contain anything
		if _, err := fmt.Sscan(string(rest), &state, &parent, &in); err != nil || in != group {
			continue
		}
		if _, err := fmt.Sscan(string(text), &pid); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}
