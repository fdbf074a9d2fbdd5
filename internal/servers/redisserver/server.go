//go:build linux

package redisserver

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/lockstorm/lockstorm/internal/servers/aof"
	"github.com/lockstorm/lockstorm/internal/servers/child"
)

// startTimeout bounds how long a server may take to answer its first PING.
const startTimeout = 10 * time.Second

// quitTimeout bounds how long a server may take to shut down. It has nothing to save.
const quitTimeout = 5 * time.Second

// Server is one redis-server with its port and directory, over all its restarts.
type Server struct {
	fleet *Fleet
	dir   string
	port  *ReservedPort
	clock *FakeClock // nil: the machine's
	file  *aof.File

	mu   sync.Mutex
	proc *process // nil while the server is down
}

func (s *Server) clockFile() string { return filepath.Join(s.dir, "clock") }

// Addr returns the server's host:port, which stays the same over restarts.
func (s *Server) Addr() string { return s.port.Addr() }

// Pid returns the process id, or 0 while the server is down.
func (s *Server) Pid() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.proc == nil {
		return 0
	}
	return s.proc.cmd.Process.Pid
}

// Start starts the server and waits until it answers PING. Options.AppendOnly says which
// keys it has kept. If it does not answer in time, or ctx ends, it is killed.
func (s *Server) Start(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.proc != nil {
		return fmt.Errorf("redis-server on %s is already running", s.Addr())
	}
	if err := s.file.Prepare(s.fleet.options.AppendOnly); err != nil {
		return err
	}
	if s.clock != nil {
		if err := s.clock.Load(); err != nil {
			return err
		}
	}
	if err := s.port.Vacant(); err != nil {
		return err
	}
	p, err := s.fleet.launch(s, s.fleet.report)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, startTimeout, fmt.Errorf("waited for %v", startTimeout))
	defer cancel()
	err = s.operator().Await(ctx, p)
	if err == nil && s.clock != nil {
		err = s.clock.Settle(func() (time.Time, error) { return s.operator().Time(ctx) })
	}
	if err != nil {
		p.kill()
		return err
	}
	s.proc = p
	return nil
}

// Kill ends the server by SIGKILL and waits until it is gone. It does nothing if the server
// is down.
func (s *Server) Kill() { s.kill() }

// kill reports whether the server was running.
func (s *Server) kill() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.proc == nil {
		return false
	}
	s.proc.kill()
	s.proc = nil
	return true
}

// Quit shuts the server down as an operator does and waits until it is gone. It does
// nothing if the server is down.
func (s *Server) Quit() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.proc != nil {
		s.proc.quit(quitTimeout)
		s.proc = nil
	}
}

// Stop stops the server's process with SIGSTOP and waits until all its threads have
// stopped. Like Continue it does nothing if the server is down.
func (s *Server) Stop() error { return s.running(child.Stop) }

// Continue lets a stopped server run again.
func (s *Server) Continue() error { return s.running(child.Continue) }

// running calls do with the process, if there is one.
func (s *Server) running(do func(*os.Process) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.proc == nil {
		return nil
	}
	if err := do(s.proc.cmd.Process); err != nil {
		return fmt.Errorf("redis-server on %s: %w", s.Addr(), err)
	}
	return nil
}

// Do sends a command over its own connection, past any proxy, and returns the reply as
// go-redis decodes it.
func (s *Server) Do(ctx context.Context, command ...string) (reply any, err error) {
	return s.operator().Do(ctx, command...)
}

func (s *Server) operator() Operator { return Operator(s.Addr()) }

// SetClock sets the server's wall clock, with [Options.Clocks]: from now on it is ahead of
// the machine's clock (behind it if ahead is negative) and runs ppm parts per million too
// fast. At -1,000,000 it stands still. The setting survives restarts.
func (s *Server) SetClock(ahead time.Duration, ppm int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.clock.Set(ahead, ppm)
}

// args returns the whole command line. No configuration file is read.
func (s *Server) args() []string {
	appendOnly := s.fleet.options.AppendOnly || s.fleet.options.Journal
	args := []string{
		"--bind", "127.0.0.1",
		"--port", strconv.Itoa(s.port.Number()),
		"--pidfile", "redis.pid",
	}
	if s.fleet.options.Rewind {
		args = append(args, "--enable-debug-command", "local")
	}
	return append(args, PersistenceArgs(appendOnly, s.fleet.options.EverySecond)...)
}

// PersistenceArgs returns the command-line options that decide what a server keeps over
// restarts: nothing, or every acknowledged write, synced once a second or at every write.
func PersistenceArgs(appendOnly, everySecond bool) []string {
	written, sync := "no", "always"
	if appendOnly {
		written = "yes"
	}
	if everySecond {
		sync = "everysec"
	}
	return []string{
		"--save", "",
		// A replica that was synced from the disk receives changes at once. One that was
		// synced without it waits for its first acknowledgement, once a second.
		"--repl-diskless-sync", "no",
		"--appendonly", written,
		"--appendfsync", sync,
		"--auto-aof-rewrite-percentage", "0", // a rewrite runs in a child process that would outlive a SIGKILL
	}
}

// SyncFrom makes the server's disk hold what the server has written as of one instant each
// second, starting at phase. It is for servers with [Options.EverySecond]; only the first
// call counts. Without it every acknowledged write is on the disk.
func (s *Server) SyncFrom(phase time.Duration) { s.fleet.watch.SyncFrom(s.file, phase) }

// Synced returns how many bytes of the append-only file were on the disk at the last sync.
func (s *Server) Synced() int64 { return s.file.Synced() }

// LosePower kills the server and removes what was not synced. It does nothing if the server
// is down.
func (s *Server) LosePower(l aof.Loss) error { return s.file.LosePower(l, s.kill) }

// Restore kills the server. Its next start finds the state that it had age ago. It is for
// servers with [Options.Journal], and does nothing if the server is down.
func (s *Server) Restore(age time.Duration) error { return s.file.Restore(age, s.kill) }

// tornFileMessage is what Redis logs about a file that ends within a record, with
// aof-load-truncated no.
const tornFileMessage = "Unexpected end of file reading the append only file"

// Refuse starts the server with aof-load-truncated no and waits until it has rejected its
// file, torn by [Server.LosePower], and is gone. It returns an error if the server does
// anything else.
func (s *Server) Refuse(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.proc != nil {
		return fmt.Errorf("redis-server on %s is already running", s.Addr())
	}
	if err := s.port.Vacant(); err != nil {
		return err
	}
	p, err := s.fleet.launch(s, func(error) {}, "--aof-load-truncated", "no")
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, startTimeout, fmt.Errorf("waited for %v", startTimeout))
	defer cancel()
	select {
	case <-p.exited:
	case <-ctx.Done():
		p.kill()
		return fmt.Errorf("redis-server on %s does not reject its torn file (%w); the end of its log:\n%s", s.Addr(), context.Cause(ctx), p.Log())
	}
	if !strings.Contains(p.Log(), tornFileMessage) {
		return fmt.Errorf("redis-server on %s did not report its torn file: %w", s.Addr(), p.exitErr)
	}
	return nil
}

// Rewind gives a stopped server the keys that it had at a time, and continues it. The
// process, and so its run id, stays the same: the server reads its truncated append-only
// file again with DEBUG LOADAOF. It is for servers with [Options.Rewind], and does nothing
// if the server is down.
func (s *Server) Rewind(ctx context.Context, then time.Time) error {
	if err := s.Continue(); err != nil || s.Pid() == 0 {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, startTimeout, fmt.Errorf("waited for %v", startTimeout))
	defer cancel()
	if err := s.flush(ctx); err != nil {
		return err
	}
	if err := s.file.Rewind(then); err != nil {
		return err
	}
	_, err := s.Do(ctx, "DEBUG", "LOADAOF")
	return err
}

// flush waits until the server has written to its file everything that it has acknowledged.
func (s *Server) flush(ctx context.Context) error {
	for {
		info, err := s.Do(ctx, "INFO", "persistence")
		if err != nil || strings.Contains(fmt.Sprint(info), "\naof_buffer_length:0") {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("redis-server on %s has not written its append-only file: %w", s.Addr(), context.Cause(ctx))
		case <-time.After(time.Millisecond):
		}
	}
}
