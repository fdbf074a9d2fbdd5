package container

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/api/types/mount"
	"github.com/moby/moby/api/types/network"
	"github.com/moby/moby/client"

	"github.com/lockstorm/lockstorm/internal/servers/aof"
	"github.com/lockstorm/lockstorm/internal/servers/child"
	"github.com/lockstorm/lockstorm/internal/servers/redisserver"
)

// startTimeout bounds how long a server may take to answer its first PING.
const startTimeout = 20 * time.Second

// quitTimeout bounds how long a server may take to shut down. It has nothing to save.
const quitTimeout = 5 * time.Second

// engineTimeout bounds every other operation of the engine.
const engineTimeout = 30 * time.Second

// redisPort is the port on which a server listens in its container.
const redisPort = "6379"

var inContainer = network.MustParsePort(redisPort + "/tcp")

// These directories below the server's own are shared with its container: one with the file
// of its clock, which is replaced at every change, and one that the server works in, if we
// need access to its files.
const (
	clockDir  = "clock"
	clockFile = "clock"
	dataDir   = "data"
)

// mountPoint returns the path of a shared directory in the container.
func mountPoint(dir string) string { return "/lockstorm-" + dir }

// Server is Redis in a container on its port, over all its restarts.
type Server struct {
	fleet  *Fleet
	name   string // the container's name
	dir    string // below the reaper's directory
	port   *child.Port
	linked bool                   // it uses the host network
	clock  *redisserver.FakeClock // nil: the machine's
	file   *aof.File              // accessible only if files are shared

	mu     sync.Mutex
	id     string        // the container's id; empty: there is none yet
	now    *containerRun // nil while it is down
	last   *containerRun // the previous run, whose container may still be ending
	paused bool
}

// Addr returns the server's host:port, which stays the same over restarts.
func (s *Server) Addr() string { return s.port.Addr() }

// makeDirs makes the directories. The server may run as any user, so everybody may read
// them.
func (s *Server) makeDirs() error {
	for _, dir := range []string{"", clockDir, dataDir} {
		at := filepath.Join(s.dir, dir)
		if err := errors.Join(os.Mkdir(at, 0o755), os.Chmod(at, 0o755)); err != nil { // whatever our umask is
			return err
		}
	}
	if s.fleet.preload != "" {
		s.clock = redisserver.NewFakeClock(filepath.Join(s.dir, clockDir, clockFile))
	}
	return nil
}

// create creates the container.
func (s *Server) create(ctx context.Context) error {
	f := s.fleet
	config := &container.Config{Image: f.image, Labels: map[string]string{label: s.name}, Cmd: s.command()}
	if !s.linked {
		config.ExposedPorts = network.PortSet{inContainer: {}}
	}
	if s.clock != nil {
		config.Env = redisserver.FakeTimeEnv(f.preload, mountPoint(clockDir)+"/"+clockFile)
	}
	if f.options.sharesFiles() { // the image's own entry point may switch to another user
		config.Entrypoint, config.Cmd, config.User = config.Cmd[:1], config.Cmd[1:], f.user
	}
	made, err := s.engine().ContainerCreate(ctx, client.ContainerCreateOptions{Name: s.name, Config: config, HostConfig: s.hostConfig()})
	if err != nil {
		return fmt.Errorf("create a container of the image %s: %w", f.image, oneLine(err))
	}
	s.id = made.ID
	return nil
}

// hostConfig returns the container's network, ports and shared directories.
func (s *Server) hostConfig() *container.HostConfig {
	h := new(container.HostConfig)
	if s.linked {
		h.NetworkMode = network.NetworkHost
	} else {
		h.PortBindings = network.PortMap{inContainer: {{
			HostIP: netip.MustParseAddr("127.0.0.1"), HostPort: strconv.Itoa(s.port.Number()),
		}}}
	}
	share := func(dir string, readOnly bool) {
		h.Mounts = append(h.Mounts, mount.Mount{Type: mount.TypeBind, Source: filepath.Join(s.dir, dir), Target: mountPoint(dir), ReadOnly: readOnly})
	}
	if s.clock != nil {
		share(clockDir, true)
	}
	if s.fleet.options.sharesFiles() {
		share(dataDir, false)
	}
	return h
}

// command returns the command that starts the server. In a container with its own network
// the server accepts connections from anywhere, which are those to its port on loopback and
// those of other containers.
func (s *Server) command() []string {
	o := s.fleet.options
	words := []string{"redis-server", "--port", redisPort, "--bind", "0.0.0.0", "--protected-mode", "no"}
	if s.linked {
		words = []string{"redis-server", "--port", strconv.Itoa(s.port.Number()), "--bind", "127.0.0.1"}
	}
	if o.sharesFiles() {
		words = append(words, "--dir", mountPoint(dataDir))
	}
	return append(words, redisserver.PersistenceArgs(o.AppendOnly || o.Journal, o.EverySecond)...)
}

// Start starts the server and waits until it answers PING. Options.AppendOnly says which
// keys it has kept. If it does not answer in time, or ctx ends, it is killed.
func (s *Server) Start(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.now != nil {
		return fmt.Errorf("redis-server on %s is already running", s.Addr())
	}
	if s.clock != nil {
		if err := s.clock.Load(); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeoutCause(ctx, startTimeout, fmt.Errorf("waited for %v", startTimeout))
	defer cancel()
	if err := s.last.wait(ctx); err != nil {
		return err
	}
	if err := s.port.Vacant(); err != nil {
		return err
	}
	if err := s.file.Prepare(s.fleet.options.AppendOnly); err != nil {
		return err
	}
	if _, err := s.engine().ContainerStart(ctx, s.id, client.ContainerStartOptions{}); err != nil {
		return s.startError(err)
	}
	l := watchContainer(s.engine(), s.id, s.Addr(), s.fleet.report)
	err := s.readyError(l, l.ready(ctx))
	if err == nil && s.clock != nil {
		err = s.clock.Settle(func() (time.Time, error) { return s.operator().Time(ctx) })
	}
	if err != nil {
		l.expected.Store(true)
		s.last = l
		if l.line != nil { // it was ready, and its clock could not be set
			defer func() { _ = l.line.Close() }()
		}
		l.finish(func(ctx context.Context) error {
			_, err := s.engine().ContainerKill(ctx, s.id, client.ContainerKillOptions{Signal: "SIGKILL"})
			return err
		})
		return err
	}
	s.now = l
	return nil
}

// Kill ends the server by SIGKILL and waits until it is gone. It does nothing if the server
// is down. A paused server does not continue before it dies.
func (s *Server) Kill() { s.kill() }

// kill reports whether the server was running.
func (s *Server) kill() bool {
	return s.end(func(ctx context.Context) error {
		_, err := s.engine().ContainerKill(ctx, s.id, client.ContainerKillOptions{Signal: "SIGKILL"})
		return err
	})
}

// Quit shuts the server down as an operator does and waits until it is gone. It does
// nothing if the server is down.
func (s *Server) Quit() {
	s.end(func(ctx context.Context) error {
		patience := int(quitTimeout.Seconds())
		_, err := s.engine().ContainerStop(ctx, s.id, client.ContainerStopOptions{Signal: "SIGTERM", Timeout: &patience})
		return err
	})
}

// end ends the server by calling how, and waits until it is gone. The container takes
// longer to end, and no client should have to wait for that, so only the next start does.
// end reports whether the server was running.
func (s *Server) end(how func(context.Context) error) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.now == nil {
		return false
	}
	l := s.now
	s.now, s.last, s.paused = nil, l, false
	l.expected.Store(true)
	go l.finish(how)
	l.awaitDisconnect()
	return true
}

// Stop pauses the server and waits until it has stopped. Like Continue it does nothing if
// the server is down.
func (s *Server) Stop() error {
	return s.setPaused(true, func(ctx context.Context) error {
		for {
			_, err := s.engine().ContainerPause(ctx, s.id, client.ContainerPauseOptions{})
			if err == nil || ctx.Err() != nil || !strings.Contains(err.Error(), freezeFailed) {
				return err
			}
		}
	})
}

// freezeFailed is part of the engine's error on a busy machine with version 1 of control
// groups: it has tried some hundred times to stop all threads at once, and given up.
const freezeFailed = "unable to freeze"

// Continue lets a paused server run again.
func (s *Server) Continue() error {
	return s.setPaused(false, func(ctx context.Context) error {
		_, err := s.engine().ContainerUnpause(ctx, s.id, client.ContainerUnpauseOptions{})
		return err
	})
}

func (s *Server) setPaused(paused bool, how func(context.Context) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.now == nil || s.paused == paused {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), engineTimeout)
	defer cancel()
	if err := how(ctx); err != nil {
		return fmt.Errorf("the container of redis-server on %s: %w", s.Addr(), err)
	}
	s.paused = paused
	return nil
}

// Do sends a command over its own connection, past any proxy, and returns the reply as
// go-redis decodes it.
func (s *Server) Do(ctx context.Context, command ...string) (reply any, err error) {
	return s.operator().Do(ctx, command...)
}

// SetClock sets the server's wall clock, with [Options.Clocks]: from now on it is ahead of
// the machine's clock (behind it if ahead is negative) and runs ppm parts per million too
// fast. At -1,000,000 it stands still. The setting survives restarts.
func (s *Server) SetClock(ahead time.Duration, ppm int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.clock.Set(ahead, ppm)
}

// remove removes the container and its files. The directory goes last, because its name
// tells the reaper about the container.
func (s *Server) remove(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.port.Free()
	if s.now != nil {
		s.now.expected.Store(true)
	}
	_ = s.last.wait(ctx)
	_, err := s.engine().ContainerRemove(ctx, s.name, client.ContainerRemoveOptions{Force: true, RemoveVolumes: true})
	if err != nil && !errdefs.IsNotFound(err) {
		return fmt.Errorf("remove the container %s: %w", s.name, err)
	}
	if s.now != nil {
		<-s.now.ended
		s.now.awaitDisconnect()
		s.now = nil
	}
	return os.RemoveAll(s.dir)
}

func (s *Server) engine() client.APIClient       { return s.fleet.engine.client }
func (s *Server) operator() redisserver.Operator { return redisserver.Operator(s.Addr()) }

// SyncFrom makes the server's disk hold what the server has written as of one instant each
// second, starting at phase. It is for servers with [Options.Power]; only the first call
// counts. Without it every acknowledged write is on the disk.
func (s *Server) SyncFrom(phase time.Duration) { s.fleet.watch.SyncFrom(s.file, phase) }

// LosePower kills the server and removes what was not synced. It does nothing if the server
// is down.
func (s *Server) LosePower(l aof.Loss) error { return s.file.LosePower(l, s.kill) }

// Restore kills the server. Its next start finds the state that it had age ago. It is for
// servers with [Options.Journal], and does nothing if the server is down.
func (s *Server) Restore(age time.Duration) error { return s.file.Restore(age, s.kill) }
