//go:build linux

package redisserver

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// patience bounds every wait of these tests. None takes a second.
const patience = 2 * time.Minute

// openFleet starts servers in a directory of the test for temporary files, and checks at
// the end that nothing is left there.
func openFleet(t *testing.T, o Options) *Fleet {
	t.Helper()
	tmp := ownTemp(t)
	f, err := OpenFleet(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
		mustBeEmpty(t, tmp)
	})
	return f
}

func ownTemp(t *testing.T) string {
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	return tmp
}

func mustBeEmpty(t *testing.T, dir string) {
	t.Helper()
	if left := entries(t, dir); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func entries(t *testing.T, dir string) []string {
	t.Helper()
	left, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	return left
}

// ask sends one inline command and returns the first line of the reply.
func ask(t *testing.T, s *Server, command string) string {
	t.Helper()
	conn, err := net.Dial("tcp", s.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(patience))
	if _, err := conn.Write([]byte(command + "\r\n")); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(conn).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(line)
}

// alive reports whether a process runs. A zombie does not.
func alive(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, state, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(state, "Z")
}

// eventually waits until a condition is true.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("after %v still not: %s", patience, what)
		}
	}
}

func TestServersAnswerOnLoopbackUntilClosed(t *testing.T) {
	began := time.Now()
	f := openFleet(t, Options{Nodes: 5})
	t.Logf("five servers answered after %v", time.Since(began))
	pids := map[int]bool{}
	for n := 1; n <= f.Len(); n++ {
		s := f.Server(n)
		if host, _, _ := net.SplitHostPort(s.Addr()); host != "127.0.0.1" {
			t.Errorf("node %d listens on %s", n, s.Addr())
		}
		if got := ask(t, s, "PING"); got != "+PONG" {
			t.Errorf("node %d answers PING with %q", n, got)
		}
		pids[s.Pid()] = true
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	for pid := range pids {
		if alive(pid) {
			t.Errorf("process %d is alive after Close", pid)
		}
	}
	if err := f.Close(); err != nil {
		t.Errorf("second Close: %v", err)
	}
}

// A server that keeps nothing does not keep the dump of a replication either.
func TestReplicationIsNoPersistence(t *testing.T) {
	f := openFleet(t, Options{Nodes: 2})
	master, replica := f.Server(1), f.Server(2)
	if got := ask(t, master, "SET key token"); got != "+OK" {
		t.Fatal(got)
	}
	host, port, _ := net.SplitHostPort(master.Addr())
	if got := ask(t, replica, "REPLICAOF "+host+" "+port); got != "+OK" {
		t.Fatal(got)
	}
	eventually(t, "the replica has the key", func() bool { return ask(t, replica, "GET key") == "$5" })
	for name, s := range map[string]*Server{"master": master, "replica": replica} {
		s.Kill()
		if err := s.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := ask(t, s, "GET key"); got != "$-1" {
			t.Errorf("the %s keeps the key: %s", name, got)
		}
	}
}

func TestServerThatDiesOfItselfIsReportedWithItsLog(t *testing.T) {
	f := openFleet(t, Options{Nodes: 2})
	if err := syscall.Kill(f.Server(2).Pid(), syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-f.Died():
		if text := err.Error(); !strings.Contains(text, f.Server(2).Addr()) || !strings.Contains(text, "SIGTERM") {
			t.Errorf("want the address and the log, got: %v", err)
		}
	case <-time.After(patience):
		t.Error("nobody has noticed")
	}
}

func TestMissingBinaryIsOneLineThatHelps(t *testing.T) {
	_, err := OpenFleet(t.Context(), Options{Binary: "/nowhere/redis-server", Nodes: 1})
	if err == nil {
		t.Fatal("opened")
	}
	text := err.Error()
	if strings.Contains(text, "\n") || !strings.Contains(text, "/nowhere/redis-server") || !strings.Contains(text, "apt-get install redis-server") {
		t.Errorf("got: %s", text)
	}
}

func TestServerThatDiesAtStartIsOneErrorAndLeavesNothing(t *testing.T) {
	tmp := ownTemp(t)
	bad := filepath.Join(t.TempDir(), "redis-server")
	if err := os.WriteFile(bad, []byte("#!/bin/sh\necho 'out of luck'\nexit 3\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	_, err := OpenFleet(t.Context(), Options{Binary: bad, Nodes: 3})
	if err == nil || !strings.Contains(err.Error(), "exit status 3") || !strings.Contains(err.Error(), "out of luck") {
		t.Errorf("want the status and the log, got: %v", err)
	}
	mustBeEmpty(t, tmp)
}

func TestOpenHeedsItsContextAndLeavesNothing(t *testing.T) {
	tmp := ownTemp(t)
	deaf := filepath.Join(t.TempDir(), "redis-server")
	if err := os.WriteFile(deaf, []byte("#!/bin/sh\nexec sleep 600\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := OpenFleet(ctx, Options{Binary: deaf, Nodes: 2}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got: %v", err)
	}
	mustBeEmpty(t, tmp)
}

// A program that takes the port of a server that is down is not mistaken for the server,
// nor the server for one that crashed.
func TestPortThatIsTaken(t *testing.T) {
	f := openFleet(t, Options{Nodes: 1})
	s := f.Server(1)
	s.Kill()
	taker, err := net.Listen("tcp", s.Addr())
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Start(t.Context()); err == nil || !strings.Contains(err.Error(), "another program listens on "+s.Addr()) {
		t.Errorf("got %v", err)
	}
	_ = taker.Close()
	if err := s.Start(t.Context()); err != nil {
		t.Errorf("when the port is free again: %v", err)
	}
}

// A redis-server that is too old for the options is rejected before it is started.
func TestVersionThatIsTooOld(t *testing.T) {
	for told, c := range map[string]struct {
		options Options
		refused string // a part of the error; "": it is started, and ends because it is a script
	}{
		"Redis server v=5.0.14 sha=0":  {Options{Nodes: 1}, "is of Redis 5.0.14, which is too old"},
		"Redis server v=6.2.14 sha=0":  {Options{Nodes: 1, Journal: true}, "at least 7.0 is needed"},
		"Redis server v=6.0.16 sha=0":  {Options{Nodes: 1}, ""},
		"Valkey server v=8.1.0 sha=0":  {Options{Nodes: 1, Journal: true}, ""},
		"nothing that anybody expects": {Options{Nodes: 1}, ""},
	} {
		ownTemp(t)
		c.options.Binary = filepath.Join(t.TempDir(), "redis-server")
		if err := os.WriteFile(c.options.Binary, []byte("#!/bin/sh\necho '"+told+"'\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		_, err := OpenFleet(t.Context(), c.options)
		if c.refused == "" {
			c.refused = "no fault of the plan killed it"
		}
		if err == nil || !strings.Contains(err.Error(), c.refused) {
			t.Errorf("%s: got %v", told, err)
		}
	}
}
