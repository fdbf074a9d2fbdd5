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

// startPatience is how long a server may take to answer its first PING.
const startPatience = 10 * time.Second

// quitPatience is how long a server may take to shut down: it has nothing to save.
const quitPatience = 5 * time.Second

// Server is one redis-server on its port and directory, over all its lives.
type Server struct {
	fleet *Fleet
	dir   string
	port  *ReservedPort
	clock *FakeClock // nil: that of the machine
	file  *aof.File

	mu  sync.Mutex
	now *process // nil while it is down
}

func (s *Server) clockFile() string { return filepath.Join(s.dir, "clock") }

// Addr is the server's host:port. It stays the same over restarts.
func (s *Server) Addr() string { return s.port.Addr() }

// Pid is the number of the running process, 0 if there is none.
func (s *Server) Pid() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.now == nil {
		return 0
	}
	return s.now.cmd.Process.Pid
}

// Start starts the server and returns when it answers PING. What it kept of
// an earlier life is as [Options.AppendOnly] says. If it does not answer in
// time, or ctx ends, it is killed.
func (s *Server) Start(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.now != nil {
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
	ctx, cancel := context.WithTimeoutCause(ctx, startPatience, fmt.Errorf("waited for %v", startPatience))
	defer cancel()
	err = s.operator().Await(ctx, p)
	if err == nil && s.clock != nil {
		err = s.clock.Settle(func() (time.Time, error) { return s.operator().Time(ctx) })
	}
	if err != nil {
		p.kill()
		return err
	}
	s.now = p
	return nil
}

// Kill ends the server by SIGKILL and returns when it is gone. A server that
// is down stays so.
func (s *Server) Kill() { s.kill() }

// kill reports whether there was something to kill.
func (s *Server) kill() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.now == nil {
		return false
	}
	s.now.kill()
	s.now = nil
	return true
}

// Quit shuts the server down, as an operator does, and returns when it is gone. A
// server that is down stays so.
func (s *Server) Quit() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.now != nil {
		s.now.quit(quitPatience)
		s.now = nil
	}
}

// Stop makes the server stand still, by SIGSTOP, and returns when it does. One that is
// down it leaves alone, as does Continue.
func (s *Server) Stop() error { return s.running(child.Stop) }

// Continue lets the server go on.
func (s *Server) Continue() error { return s.running(child.Continue) }

// running does something to the process, if there is one.
func (s *Server) running(do func(*os.Process) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.now == nil {
		return nil
	}
	if err := do(s.now.cmd.Process); err != nil {
		return fmt.Errorf("redis-server on %s: %w", s.Addr(), err)
	}
	return nil
}

// Do sends a command over a connection of its own, past any proxy, and returns the
// reply as go-redis reads it.
func (s *Server) Do(ctx context.Context, command ...string) (reply any, err error) {
	return s.operator().Do(ctx, command...)
}

func (s *Server) operator() Operator { return Operator(s.Addr()) }

// SetClock sets the server's wall clock, as [Options.Clocks] allows: from now on it is
// ahead of the machine's, or behind it if ahead is below 0, and runs ppm parts per
// million too fast; with -1,000,000 it stands still. It stays so over restarts.
func (s *Server) SetClock(ahead time.Duration, ppm int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.clock.Set(ahead, ppm)
}

// args is the command line, complete: no configuration file is read.
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

// PersistenceArgs is the part of a server's command line that says what it keeps over its death:
// every acknowledged write, which is synced each second or at once, or nothing at all.
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
		// By way of the disk a replica that is in step hears of changes at once; without,
		// only when it has first acknowledged something, which it does once a second.
		"--repl-diskless-sync", "no",
		"--appendonly", written,
		"--appendfsync", sync,
		"--auto-aof-rewrite-percentage", "0", // no child that would outlive a SIGKILL
	}
}

// SyncFrom says that from a phase on, once a second, what the server has written is on
// its disk, and no earlier. It is for servers with [Options.EverySecond]; of several
// phases the first counts. Without it all is synced that was acknowledged.
func (s *Server) SyncFrom(phase time.Duration) { s.fleet.watch.SyncFrom(s.file, phase) }

// Synced is how much of the append-only file was on the disk at the last sync, in bytes.
func (s *Server) Synced() int64 { return s.file.Synced() }

// LosePower ends the server and takes away what was not synced. A server that is down
// stays so.
func (s *Server) LosePower(l aof.Loss) error { return s.file.LosePower(l, s.kill) }

// Restore kills the server, which is to start with what it had a time before. It is for
// servers with [Options.Journal]. A server that is down stays so.
func (s *Server) Restore(age time.Duration) error { return s.file.Restore(age, s.kill) }

// refusal is what Redis says of a file that ends within a record, with
// aof-load-truncated no.
const refusal = "Unexpected end of file reading the append only file"

// Refuse starts the server with aof-load-truncated no, and returns when it has refused its
// file, which [Server.LosePower] has torn, and is gone. It is an error if the server does
// anything else.
func (s *Server) Refuse(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.now != nil {
		return fmt.Errorf("redis-server on %s is already running", s.Addr())
	}
	if err := s.port.Vacant(); err != nil {
		return err
	}
	p, err := s.fleet.launch(s, func(error) {}, "--aof-load-truncated", "no")
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, startPatience, fmt.Errorf("waited for %v", startPatience))
	defer cancel()
	select {
	case <-p.exited:
	case <-ctx.Done():
		p.kill()
		return fmt.Errorf("redis-server on %s does not refuse its torn file (%w); the end of its log:\n%s", s.Addr(), context.Cause(ctx), p.Log())
	}
	if !strings.Contains(p.Log(), refusal) {
		return fmt.Errorf("redis-server on %s: want a refusal of the torn file: %w", s.Addr(), p.death)
	}
	return nil
}

// Rewind gives a server that stands still the keys that it had at a time, and lets it go
// on: with the same process, and so in the same run. It is for servers with
// [Options.Rewind], and reads its append-only file again, by DEBUG LOADAOF. A server that is
// down stays so.
func (s *Server) Rewind(ctx context.Context, then time.Time) error {
	if err := s.Continue(); err != nil || s.Pid() == 0 {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, startPatience, fmt.Errorf("waited for %v", startPatience))
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

// flush waits until the server has written what it had answered.
func (s *Server) flush(ctx context.Context) error {
	for {
		info, err := s.Do(ctx, "INFO", "persistence")
		if err != nil || strings.Contains(fmt.Sprint(info), "\naof_buffer_length:0") {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("redis-server on %s does not write its append-only file: %w", s.Addr(), context.Cause(ctx))
		case <-time.After(time.Millisecond):
		}
	}
}
