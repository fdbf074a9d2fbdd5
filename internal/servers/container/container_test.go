//go:build linux

package container

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/moby/moby/client"

	"github.com/lockstorm/lockstorm/internal/testkit"
)

// patience bounds every wait of these tests.
const patience = time.Minute

// openFleet starts servers in a directory of the test for temporary files, and checks at
// the end that nothing is left there, and no containers.
func openFleet(t *testing.T, o Options) *Fleet {
	t.Helper()
	testkit.NeedEngine(t)
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	f, err := OpenFleet(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
		if left, _ := filepath.Glob(filepath.Join(tmp, "*", "node-*")); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
		for _, name := range testkit.OurContainers(t) {
			if strings.HasPrefix(name, filepath.Base(f.reaper.Dir())) {
				t.Errorf("left behind: the container %s", name)
			}
		}
	})
	return f
}

func (s *Server) must(t *testing.T, want string, command ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	reply, err := s.Do(ctx, command...)
	if err != nil {
		reply = err
	}
	if got := fmt.Sprint(reply); !strings.Contains(got, want) {
		t.Errorf("%s: %s, want %s", strings.Join(command, " "), got, want)
	}
}

func (s *Server) mustStart(t *testing.T) {
	t.Helper()
	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// All ports of containers are on loopback, and gone when the fleet is closed.
func TestContainersAnswerOnLoopbackUntilClosed(t *testing.T) {
	f := openFleet(t, Options{Nodes: 2})
	for _, s := range f.Servers() {
		s.must(t, "PONG", "PING")
		told, err := s.engine().ContainerInspect(t.Context(), s.id, client.ContainerInspectOptions{})
		if err != nil {
			t.Fatal(err)
		}
		ports := 0
		for _, bindings := range told.Container.NetworkSettings.Ports {
			for _, b := range bindings {
				ports++
				if got := net.JoinHostPort(b.HostIP.String(), b.HostPort); got != s.Addr() || !b.HostIP.IsLoopback() {
					t.Errorf("it is published on %s, want %s", got, s.Addr())
				}
			}
		}
		if ports != 1 {
			t.Errorf("%d ports are published", ports)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	for _, s := range f.Servers() {
		if conn, err := net.Dial("tcp", s.Addr()); err == nil {
			_ = conn.Close()
			t.Errorf("somebody still listens on %s", s.Addr())
		}
	}
}

// A container keeps over its death what its options say, and its address.
func TestContainerKeepsWhatItIsToldTo(t *testing.T) {
	for _, c := range []struct {
		name    string
		options Options
		kept    string
	}{
		{"nothing", Options{Nodes: 1}, "redis: nil"},
		{"all", Options{Nodes: 1, AppendOnly: true}, "token"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := openFleet(t, c.options)
			s := f.Server(1)
			for _, end := range []func(){s.Kill, s.Quit} {
				s.must(t, "OK", "SET", "key", "token")
				end()
				if s.operator().Answers(t.Context()) {
					t.Error("it answers while it is down")
				}
				s.mustStart(t)
				s.must(t, c.kept, "GET", "key")
			}
			select {
			case err := <-f.Died():
				t.Errorf("what we have ended is said to have ended of itself: %v", err)
			default:
			}
		})
	}
}

// A paused container processes what it was sent when it continues, but not if it is killed
// before.
func TestContainerStandsStill(t *testing.T) {
	s := openFleet(t, Options{Nodes: 1, AppendOnly: true}).Server(1)
	for _, c := range []struct {
		key, want string
		after     func()
	}{
		{"a", "token", func() {
			if err := s.Continue(); err != nil {
				t.Error(err)
			}
		}},
		{"b", "redis: nil", func() { s.Kill(); s.mustStart(t) }},
	} {
		if err := s.Stop(); err != nil {
			t.Fatal(err)
		}
		conn, err := net.Dial("tcp", s.Addr())
		if err != nil {
			t.Fatal(err)
		}
		_, _ = fmt.Fprintf(conn, "SET %s token\r\n", c.key)
		_ = conn.SetReadDeadline(time.Now().Add(200 * time.Millisecond))
		if n, err := conn.Read(make([]byte, 1)); n > 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("it answers, or breaks the connection: %v", err)
		}
		c.after()
		_ = conn.SetReadDeadline(time.Now().Add(patience))
		_, _ = conn.Read(make([]byte, 1)) // until it has answered, or the connection is broken
		s.must(t, c.want, "GET", c.key)
		_ = conn.Close()
	}
}

// The clock shows the time that was set, also after a restart.
func TestContainerHasAClockOfItsOwn(t *testing.T) {
	testkit.NeedEngine(t)
	f := openFleet(t, Options{Nodes: 2, Clocks: true})
	ahead := func(s *Server) time.Duration {
		shown, err := s.operator().Time(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return time.Until(shown).Round(time.Minute)
	}
	if err := f.Server(1).SetClock(-time.Hour, 0); err != nil {
		t.Fatal(err)
	}
	for _, when := range []string{"at once", "after a restart"} {
		if got := ahead(f.Server(1)); got != -time.Hour {
			t.Errorf("%s it is ahead by %v", when, got)
		}
		f.Server(1).Kill()
		f.Server(1).mustStart(t)
	}
	if got := ahead(f.Server(2)); got != 0 {
		t.Errorf("that of another is ahead by %v", got)
	}
}

func TestContainerThatEndsOfItself(t *testing.T) {
	f := openFleet(t, Options{Nodes: 1})
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	_, _ = f.Server(1).Do(ctx, "SHUTDOWN") // it breaks the connection
	select {
	case err := <-f.Died():
		for _, want := range []string{f.Server(1).Addr(), "exit status 0", "bye bye"} {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("no %q in: %v", want, err)
			}
		}
	case <-ctx.Done():
		t.Fatal("nobody says so")
	}
}

func TestContainerWhosePortIsTaken(t *testing.T) {
	s := openFleet(t, Options{Nodes: 1}).Server(1)
	s.Kill()
	if err := s.last.wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	thief, err := net.Listen("tcp", s.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = thief.Close() }()
	err = s.Start(t.Context())
	if err == nil || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), "another program listens on "+s.Addr()) {
		t.Errorf("got %v", err)
	}
}

// An engine that may be on another machine is rejected before it is dialled.
func TestEngineOfAnotherMachineIsRefused(t *testing.T) {
	for host, want := range map[string]bool{"": true, "unix:///x": true, "tcp://192.0.2.1:2375": false, "ssh://there": false, "tcp://127.0.0.1:2375": false} {
		if err := checkLocal(host); (err == nil) != want {
			t.Errorf("%q: %v", host, err)
		}
	}
}

// The image stays as long as this program, even if other images are collected.
func TestContainerImageOutlivesACollection(t *testing.T) {
	testkit.NeedEngine(t)
	e, err := connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	tag, err := e.ownImage(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for range 5 {
		runtime.GC()
		time.Sleep(100 * time.Millisecond) // in which a shell would notice
	}
	if _, err := e.client.ImageInspect(t.Context(), tag); err != nil {
		t.Error(err)
	}
}
