package postgres

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/lockstorm/lockstorm/internal/servers/child"
)

// processes returns all processes of the server. Each backend has a session of its own, and
// loses its parent when the postmaster dies, but all of them work below its directory.
func (s *Server) processes() (all []*os.Process) {
	links, _ := filepath.Glob("/proc/[0-9]*/cwd")
	for _, link := range links {
		dir, err := os.Readlink(link)
		if err != nil || dir != s.Dir && !strings.HasPrefix(dir, s.Dir+"/") {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(link)))
		if err != nil {
			continue
		}
		if p, err := os.FindProcess(pid); err == nil {
			all = append(all, p)
		}
	}
	return all
}

// kill kills all processes of the server, and waits until they are gone. A server that
// starts while backends of the last run live refuses their shared memory.
//
// The postmaster stops first and dies last. Backends that saw it die would end their sessions, which frees
// what these have locked: another client would be granted a lock by a server that is down.
func (s *Server) kill() {
	_ = s.Daemon.Stop() // it starts no new ones; an error: it does not run
	s.killProcesses(s.Pid())
	s.Daemon.Kill()
	s.killProcesses(0)
	s.forgetMemory()
}

// killProcesses kills all processes of the server but one, and waits until they are gone.
func (s *Server) killProcesses(but int) {
	for {
		left := slices.DeleteFunc(s.processes(), func(p *os.Process) bool { return p.Pid == but })
		if len(left) == 0 {
			return
		}
		for _, p := range left {
			_ = p.Kill() // fails only if it is already dead
		}
		time.Sleep(time.Millisecond)
	}
}

// forgetMemory removes the shared memory of a server that was killed before it served.
func (s *Server) forgetMemory() { _ = releaseMemory(s.data()) } // fails if there is none any more

// quit shuts the server down cleanly, or kills it if that takes too long.
func (s *Server) quit() {
	s.Daemon.Quit()
	s.kill()
}

// pause stops all processes of the server. Its connections would still be answered by the
// backends if only the postmaster stopped.
func (s *Server) pause() error {
	if err := s.Daemon.Stop(); err != nil { // before the others: it starts no new ones
		return err
	}
	return s.each(child.Stop)
}

// unpause lets all processes of the server run again.
func (s *Server) unpause() error { return s.each(child.Continue) }

func (s *Server) each(do func(*os.Process) error) error {
	for _, p := range s.processes() {
		if err := do(p); err != nil && !errors.Is(err, os.ErrProcessDone) && !errors.Is(err, syscall.ESRCH) {
			return fmt.Errorf("%s: %w", s.Name, err)
		}
	}
	return nil
}
