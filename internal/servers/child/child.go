//go:build linux

package child

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Forker starts processes that the kernel kills when we die.
//
// The kernel sends a child's Pdeathsig when the *thread* that forked it ends,
// and the Go runtime ends threads as it likes. So one goroutine, locked to its
// thread, does all the forking and lives until Close.
type Forker struct {
	mu       sync.Mutex
	commands chan *exec.Cmd
	errs     chan error
}

// NewForker returns a forker, which has to be closed.
func NewForker() *Forker {
	f := &Forker{commands: make(chan *exec.Cmd), errs: make(chan error)}
	ready := make(chan struct{})
	go f.run(ready)
	<-ready
	return f
}

// run forks whatever Start asks for. It closes ready when it has a thread that ends with
// its goroutine: every thread but the process's first, which the runtime parks instead.
func (f *Forker) run(ready chan<- struct{}) {
	runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
	if syscall.Gettid() == syscall.Getpid() {
		defer runtime.UnlockOSThread()
		other := make(chan struct{})
		go f.run(other)
		<-other // held until then, the first thread cannot be given to the other
		close(ready)
		return
	}
	close(ready)
	for cmd := range f.commands {
		f.errs <- cmd.Start()
	}
}

// Start is [exec.Cmd.Start] for a process of which nothing else is asked of the
// system. It is not to be called after Close.
func (f *Forker) Start(cmd *exec.Cmd) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	// A group of its own keeps the terminal's signals from the process.
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
	f.commands <- cmd
	return <-f.errs
}

// Close ends the thread, which kills every process that still runs.
func (f *Forker) Close() { close(f.commands) }

// stopPatience is how long it may take until all threads of a process stand still.
const stopPatience = 10 * time.Second

// Stop makes a process stand still, by SIGSTOP, and returns when all its threads do.
func Stop(p *os.Process) error {
	if err := p.Signal(syscall.SIGSTOP); err != nil {
		return os.NewSyscallError("kill", err)
	}
	for last := time.Now().Add(stopPatience); !Still(p.Pid); time.Sleep(100 * time.Microsecond) {
		if time.Now().After(last) {
			return fmt.Errorf("process %d does not stand still %v after SIGSTOP", p.Pid, stopPatience)
		}
	}
	return nil
}

// Continue lets it go on.
func Continue(p *os.Process) error { return os.NewSyscallError("kill", p.Signal(syscall.SIGCONT)) }

// Still reports whether a process stands still with all its threads, or is gone.
func Still(pid int) bool {
	threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
	for _, t := range threads {
		stat, err := os.ReadFile(t)
		if err != nil {
			continue // a thread that has ended
		}
		text := string(stat) // the name before the state may be anything
		state := text[strings.LastIndexByte(text, ')')+1:]
		if !strings.HasPrefix(state, " T") && !strings.HasPrefix(state, " Z") { // stopped, or dead and not yet waited for
			return false
		}
	}
	return true
}
