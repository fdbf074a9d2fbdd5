//go:build linux

package child

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

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
