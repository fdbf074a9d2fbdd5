//go:build linux

package redisserver

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"time"
)

// startPatience is how long a server may take to answer its first PING.
const startPatience = 10 * time.Second

// Server is one redis-server on its port and directory, over all its lives.
type Server struct {
	fleet *Fleet
	dir   string
	port  *port

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
	p, err := s.fleet.launch(s)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, startPatience, fmt.Errorf("waited for %v", startPatience))
	defer cancel()
	if err := p.ready(ctx); err != nil {
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

// args is the command line, complete: no configuration file is read.
func (s *Server) args() []string {
	appendOnly, sync := "no", "always"
	if s.fleet.options.AppendOnly {
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
		"--appendonly", appendOnly,
		"--appendfsync", sync,
		"--auto-aof-rewrite-percentage", "0", // no child that would outlive a SIGKILL
	}
}
