//go:build linux

package redisserver

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// startPatience is how long a server may take to answer its first PING.
const startPatience = 10 * time.Second

// quitPatience is how long a server may take to shut down: it has nothing to save.
const quitPatience = 5 * time.Second

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

// Stop makes the server stand still, by SIGSTOP, and Continue lets it go on. One that is
// down they leave alone.
func (s *Server) Stop() error { return s.signal(syscall.SIGSTOP) }

// Continue is the other half of Stop.
func (s *Server) Continue() error { return s.signal(syscall.SIGCONT) }

func (s *Server) signal(what syscall.Signal) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.now == nil {
		return nil
	}
	return os.NewSyscallError("kill", s.now.cmd.Process.Signal(what))
}

// Do sends a command over a connection of its own, past any proxy, and waits for the
// reply, which has to be one line and no error.
func (s *Server) Do(ctx context.Context, command ...string) (reply string, err error) {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", s.Addr())
	if err != nil {
		return "", err
	}
	defer func() { _ = conn.Close() }()
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	if _, err := io.WriteString(conn, inArray(command)); err != nil {
		return "", err
	}
	line, err := bufio.NewReader(conn).ReadString('\n')
	if err != nil {
		return "", fmt.Errorf("%s: %w", strings.Join(command, " "), err)
	}
	line = strings.TrimSpace(line)
	if refused, is := strings.CutPrefix(line, "-"); is {
		return "", fmt.Errorf("%s: redis-server on %s answers %s", strings.Join(command, " "), s.Addr(), refused)
	}
	return line[1:], nil
}

// inArray is a command as Redis reads it.
func inArray(command []string) string {
	text := fmt.Sprintf("*%d\r\n", len(command))
	for _, word := range command {
		text += fmt.Sprintf("$%d\r\n%s\r\n", len(word), word)
	}
	return text
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
