package redisserver

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
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
	*child.Daemon
	fleet *Fleet
	clock *FakeClock // nil: the machine's
	file  *aof.File

	clocks sync.Mutex // protects clock
}

// newServer adds a server to the fleet's group. It does not start it.
func (f *Fleet) newServer(node int) (*Server, error) {
	d, err := f.group.Add(fmt.Sprintf("node-%d", node), 1)
	if err != nil {
		return nil, err
	}
	s := &Server{Daemon: d, fleet: f, file: aof.In(d.Dir)}
	if f.options.Clocks {
		s.clock = NewFakeClock(s.clockFile())
	}
	d.Name = filepath.Base(f.options.Binary) + " on " + s.Addr()
	d.StartTimeout, d.QuitTimeout, d.QuitSignal = startTimeout, quitTimeout, syscall.SIGTERM
	d.Command, d.Await = s.prepare, s.await
	return s, nil
}

func (s *Server) clockFile() string { return filepath.Join(s.Dir, "clock") }

// Addr returns the server's host:port, which stays the same over restarts.
func (s *Server) Addr() string { return s.Ports[0].Addr() }

// prepare prepares the files of the server, and returns the command that starts it.
// Options.AppendOnly says which keys it has kept.
func (s *Server) prepare() (*exec.Cmd, error) {
	if err := s.file.Prepare(s.fleet.options.AppendOnly); err != nil {
		return nil, err
	}
	if s.clock != nil {
		s.clocks.Lock()
		defer s.clocks.Unlock()
		if err := s.clock.Load(); err != nil {
			return nil, err
		}
	}
	return s.command(), nil
}

// command returns the command that starts the server with additional options.
func (s *Server) command(options ...string) *exec.Cmd {
	cmd := exec.Command(s.fleet.options.Binary, append(s.args(), options...)...)
	if s.clock != nil {
		cmd.Env = append(os.Environ(), FakeTimeEnv(s.fleet.preload, s.clockFile())...)
	}
	return cmd
}

// await waits until the server answers PING and its clock follows ours.
func (s *Server) await(ctx context.Context, run *child.Run) error {
	if err := child.Await(ctx, s.Name, run, s.operator().Answers); err != nil || s.clock == nil {
		return err
	}
	s.clocks.Lock()
	defer s.clocks.Unlock()
	return s.clock.Settle(func() (time.Time, error) { return s.operator().Time(ctx) })
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
	s.clocks.Lock()
	defer s.clocks.Unlock()
	return s.clock.Set(ahead, ppm)
}

// args returns the whole command line. No configuration file is read.
func (s *Server) args() []string {
	appendOnly := s.fleet.options.AppendOnly || s.fleet.options.Journal
	args := []string{
		"--bind", "127.0.0.1",
		"--port", strconv.Itoa(s.Ports[0].Number()),
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
func (s *Server) LosePower(l aof.Loss) error { return s.file.LosePower(l, s.Killed) }

// Restore kills the server. Its next start finds the state that it had age ago. It is for
// servers with [Options.Journal], and does nothing if the server is down.
func (s *Server) Restore(age time.Duration) error { return s.file.Restore(age, s.Killed) }

// tornFileMessage is what Redis logs about a file that ends within a record, with
// aof-load-truncated no.
const tornFileMessage = "Unexpected end of file reading the append only file"

// Refuse starts the server with aof-load-truncated no and waits until it has rejected its
// file, torn by [Server.LosePower], and is gone. It returns an error if the server does
// anything else.
func (s *Server) Refuse(ctx context.Context) error {
	run, err := s.Fail(ctx, func() (*exec.Cmd, error) { return s.command("--aof-load-truncated", "no"), nil })
	if err != nil {
		return fmt.Errorf("a torn file is to be rejected: %w", err)
	}
	if !strings.Contains(run.Log(), tornFileMessage) {
		return fmt.Errorf("redis-server on %s did not report its torn file: %w", s.Addr(), run.Death())
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
