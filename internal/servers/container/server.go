//go:build linux

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
	"github.com/testcontainers/testcontainers-go"

	"github.com/lockstorm/lockstorm/internal/servers/aof"
	"github.com/lockstorm/lockstorm/internal/servers/redisserver"
)

// startTimeout is how long a server may take to answer its first PING.
const startTimeout = 20 * time.Second

// quitTimeout is how long a server may take to shut down: it has nothing to save.
const quitTimeout = 5 * time.Second

// engineTimeout is how long the engine may take for anything else.
const engineTimeout = 30 * time.Second

// redisPort is where a server listens in its container.
const redisPort = "6379"

// What we share with a container are directories below the server's own: one with the
// file that is its clock, which is a new one each time, and one that it works in, where we
// have to get at what it has written.
const (
	clockDir  = "clock"
	clockFile = "clock"
	dataDir   = "data"
)

// mountPoint is where a container has a directory that we share with it.
func mountPoint(dir string) string { return "/lockstorm-" + dir }

// Server is one Redis in a container on its port, over all its lives.
type Server struct {
	fleet  *Fleet
	name   string // of the container
	dir    string // ours, of which the reaper knows the name
	port   *redisserver.ReservedPort
	linked bool                   // it has the network of this machine
	clock  *redisserver.FakeClock // nil: that of the machine
	file   *aof.File              // which we get at only if files are shared

	mu     sync.Mutex
	id     string // of the container; empty: there is none yet
	now    *containerRun  // nil while it is down
	last   *containerRun  // the one before, whose container may be about to end
	paused bool
}

// Addr is the server's host:port. It stays the same over restarts.
func (s *Server) Addr() string { return s.port.Addr() }

// makeDirs makes the directories, which a server may look into that is anybody.
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

// create makes the container.
func (s *Server) create(ctx context.Context) error {
	f := s.fleet
	request := testcontainers.ContainerRequest{
		Image:              f.image,
		Name:               s.name,
		Labels:             map[string]string{label: s.name},
		Cmd:                s.command(),
		HostConfigModifier: s.configureHost,
	}
	if s.linked {
		request.EndpointSettingsModifier = func(all map[string]*network.EndpointSettings) { clear(all) }
	} else {
		request.ExposedPorts = []string{redisPort + "/tcp"} // and nothing else that the image would
	}
	if s.clock != nil {
		request.Env = map[string]string{}
		for _, line := range redisserver.FakeTimeEnv(f.preload, mountPoint(clockDir)+"/"+clockFile) {
			name, value, _ := strings.Cut(line, "=")
			request.Env[name] = value
		}
	}
	if f.options.sharesFiles() { // what an image starts instead may be somebody else before it is redis-server
		request.Entrypoint, request.Cmd = request.Cmd[:1], request.Cmd[1:]
		request.ConfigModifier = func(c *container.Config) { c.User = f.user }
	}
	made, err := f.engine.provider.CreateContainer(ctx, request)
	if err != nil {
		return fmt.Errorf("cannot make a container of the image %s: %w", f.image, oneLine(err))
	}
	s.id = made.GetContainerID()
	return nil
}

// configureHost says what of this machine the container has.
func (s *Server) configureHost(h *container.HostConfig) {
	if s.linked {
		h.NetworkMode = network.NetworkHost
	} else {
		h.PortBindings = network.PortMap{network.MustParsePort(redisPort + "/tcp"): {{
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
}

// command starts the server. Within a container of its own network it may be spoken to by
// anybody, which is whoever comes by way of the port on loopback, or from another
// container.
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

// Start starts the server and returns when it answers PING. What it kept of an earlier
// life is as [Options.AppendOnly] says. If it does not answer in time, or ctx ends, it is
// killed.
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
	if errors.Is(err, redisserver.ErrFakeTimeIgnored) {
		err = fmt.Errorf("redis-server in the image %s, with %s preloaded: %w", s.fleet.image, s.fleet.preload, err)
	}
	if err != nil {
		l.expected.Store(true)
		s.last = l
		if l.line != nil { // it was ready, and not fit
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

// Kill ends the server by SIGKILL and returns when it is gone. A server that is down
// stays so; one that stands still does not go on before.
func (s *Server) Kill() { s.kill() }

// kill reports whether there was something to kill.
func (s *Server) kill() bool {
	return s.end(func(ctx context.Context) error {
		_, err := s.engine().ContainerKill(ctx, s.id, client.ContainerKillOptions{Signal: "SIGKILL"})
		return err
	})
}

// Quit shuts the server down, as an operator does, and returns when it is gone. A server
// that is down stays so.
func (s *Server) Quit() {
	s.end(func(ctx context.Context) error {
		patience := int(quitTimeout.Seconds())
		_, err := s.engine().ContainerStop(ctx, s.id, client.ContainerStopOptions{Signal: "SIGTERM", Timeout: &patience})
		return err
	})
}

// end ends what runs, if something does, and returns when the server is gone. Its
// container takes its time to end after it, for which no client may have to wait: the next
// start does.
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

// Stop makes the server stand still, and returns when it does. One that is down it
// leaves alone, as does Continue.
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

// freezeFailed is what the engine says on a busy machine where control groups are of the first
// version: it has tried some hundred times to catch all threads at once, and let them go.
const freezeFailed = "unable to freeze"

// Continue lets the server go on.
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

// Do sends a command over a connection of its own, past any proxy of ours, and returns
// the reply as go-redis reads it.
func (s *Server) Do(ctx context.Context, command ...string) (reply any, err error) {
	return s.operator().Do(ctx, command...)
}

// SetClock sets the server's wall clock, as [Options.Clocks] allows: from now on it is
// ahead of the machine's, or behind it if ahead is below 0, and runs ppm parts per
// million too fast; with -1,000,000 it stands still. It stays so over restarts.
func (s *Server) SetClock(ahead time.Duration, ppm int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.clock.Set(ahead, ppm)
}

// remove takes the container away, with what it has written, and then the directory by
// which the reaper would know of it.
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
		return fmt.Errorf("the container %s could not be removed: %w", s.name, err)
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

// SyncFrom says that from a phase on, once a second, what the server has written is on
// its disk, and no earlier. It is for servers with [Options.Power]; of several phases the
// first counts. Without it all is synced that was acknowledged.
func (s *Server) SyncFrom(phase time.Duration) { s.fleet.watch.SyncFrom(s.file, phase) }

// LosePower ends the server and takes away what was not synced. A server that is down
// stays so.
func (s *Server) LosePower(l aof.Loss) error { return s.file.LosePower(l, s.kill) }

// Restore kills the server, which is to start with what it had a time before. It is for
// servers with [Options.Journal]. A server that is down stays so.
func (s *Server) Restore(age time.Duration) error { return s.file.Restore(age, s.kill) }
