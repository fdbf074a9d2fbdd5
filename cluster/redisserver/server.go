//go:build linux

package redisserver

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// startPatience is how long a server may take to answer its first PING.
const startPatience = 10 * time.Second

// quitPatience is how long a server may take to shut down: it has nothing to save.
const quitPatience = 5 * time.Second

// stopPatience is how long it may take until all threads of a server stand still.
const stopPatience = 10 * time.Second

// Server is one redis-server on its port and directory, over all its lives.
type Server struct {
	fleet *Fleet
	dir   string
	port  *port
	clock *clock // nil: that of the machine

	syncing bool  // see SyncFrom
	synced  int64 // bytes of the append-only file

	journal  []length // of the append-only file, by time
	restored bool     // it is to start with what is in the file, whatever else it keeps

	mu  sync.Mutex
	now *process // nil while it is down
}

// Addr is the server's host:port. It stays the same over restarts.
func (s *Server) Addr() string { return s.port.addr() }

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
	if s.fleet.options.Journal && !s.fleet.options.AppendOnly && !s.restored {
		if err := s.forget(); err != nil {
			return err
		}
	}
	s.restored = false
	if s.clock != nil {
		if err := s.clock.load(); err != nil {
			return err
		}
	}
	if err := checkPort(s.Addr()); err != nil {
		return err
	}
	p, err := s.fleet.launch(s)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, startPatience, fmt.Errorf("waited for %v", startPatience))
	defer cancel()
	err = p.ready(ctx)
	if err == nil && s.clock != nil {
		err = s.clock.settle(func() (time.Time, error) { return s.time(ctx) })
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
func (s *Server) Kill() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.now != nil {
		s.now.kill()
		s.now = nil
	}
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
func (s *Server) Stop() error {
	if err := s.signal(syscall.SIGSTOP); err != nil {
		return err
	}
	for last := time.Now().Add(stopPatience); !stopped(s.Pid()); time.Sleep(100 * time.Microsecond) {
		if time.Now().After(last) {
			return fmt.Errorf("redis-server on %s does not stand still %v after SIGSTOP", s.Addr(), stopPatience)
		}
	}
	return nil
}

// Continue lets the server go on.
func (s *Server) Continue() error { return s.signal(syscall.SIGCONT) }

func (s *Server) signal(what syscall.Signal) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.now == nil {
		return nil
	}
	return os.NewSyscallError("kill", s.now.cmd.Process.Signal(what))
}

// stopped reports whether a process stands still, or is gone.
func stopped(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, state, _ := strings.Cut(string(stat), ") ")
	return err != nil || strings.HasPrefix(state, "T")
}

// Do sends a command over a connection of its own, past any proxy, and returns the
// reply as go-redis reads it.
func (s *Server) Do(ctx context.Context, command ...string) (reply any, err error) {
	admin := s.admin()
	defer func() { _ = admin.Close() }()
	words := make([]any, len(command))
	for i, w := range command {
		words[i] = w
	}
	reply, err = admin.Do(ctx, words...).Result()
	if err != nil {
		return nil, fmt.Errorf("%s to redis-server on %s: %w", strings.Join(command, " "), s.Addr(), err)
	}
	return reply, nil
}

// time is what the server's wall clock shows.
func (s *Server) time(ctx context.Context) (time.Time, error) {
	admin := s.admin()
	defer func() { _ = admin.Close() }()
	return admin.Time(ctx).Result()
}

// admin is a connection of our own: a command goes out once, and only its context ends
// it.
func (s *Server) admin() *redis.Client {
	return redis.NewClient(&redis.Options{
		Addr: s.Addr(), Protocol: 2, PoolSize: 1, MaxRetries: -1, DialerRetries: 1,
		ContextTimeoutEnabled: true, ReadTimeout: -1, WriteTimeout: -1, DisableIdentity: true,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	})
}

// SetClock sets the server's wall clock, as [Options.Clocks] allows: from now on it is
// ahead of the machine's, or behind it if ahead is below 0, and runs ppm parts per
// million too fast; with -1,000,000 it stands still. It stays so over restarts.
func (s *Server) SetClock(ahead time.Duration, ppm int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.clock.set(ahead, ppm)
}

// args is the command line, complete: no configuration file is read.
func (s *Server) args() []string {
	appendOnly, sync := "no", "always"
	if s.fleet.options.AppendOnly || s.fleet.options.Journal {
		appendOnly = "yes"
	}
	if s.fleet.options.EverySecond {
		sync = "everysec"
	}
	return []string{
		"--bind", "127.0.0.1",
		"--port", strconv.Itoa(s.port.number),
		"--pidfile", "redis.pid",
		"--save", "",
		// By way of the disk a replica that is in step hears of changes at once; without,
		// only when it has first acknowledged something, which it does once a second.
		"--repl-diskless-sync", "no",
		"--appendonly", appendOnly,
		"--appendfsync", sync,
		"--auto-aof-rewrite-percentage", "0", // no child that would outlive a SIGKILL
	}
}
