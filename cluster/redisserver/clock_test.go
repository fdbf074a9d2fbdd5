//go:build linux

package redisserver

import (
	"testing"
	"time"
)

// shows is by how much a server's wall clock is ahead of ours.
func shows(t *testing.T, s *Server) time.Duration {
	t.Helper()
	before := time.Now()
	shown, err := s.operator().Time(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return shown.Sub(before.Add(time.Since(before) / 2).Round(0))
}

// near reports whether two durations are the same but for what it takes to ask.
func near(a, b time.Duration) bool { return (a - b).Abs() < 300*time.Millisecond }

// The clock is where it is put, runs as fast as it is told, stands still, and stays so
// over a restart, and the keys of the server live by it.
func TestClockOfAServer(t *testing.T) {
	f := openFleet(t, Options{Nodes: 2, Clocks: true, AppendOnly: true})
	s, other := f.Server(1), f.Server(2)
	if got := shows(t, s); !near(got, 0) {
		t.Errorf("at first it is off by %v", got)
	}
	if got := ask(t, s, "SET key token PX 3600000"); got != "+OK" {
		t.Fatal(got)
	}
	set := func(ahead time.Duration, ppm int64) time.Time {
		t.Helper()
		if err := s.SetClock(ahead, ppm); err != nil {
			t.Fatal(err)
		}
		return time.Now()
	}
	set(59*time.Minute, 0)
	if got := shows(t, s); !near(got, 59*time.Minute) {
		t.Errorf("after a jump by 59 minutes: %v", got)
	}
	if got := ask(t, s, "GET key"); got != "$5" {
		t.Errorf("before its time: %s", got)
	}
	at := set(-time.Hour, 900_000)
	time.Sleep(500 * time.Millisecond)
	if got, want := shows(t, s), -time.Hour+time.Since(at)*9/10; !near(got, want) {
		t.Errorf("with a clock at nearly twice the speed: %v, want %v", got, want)
	}
	at = set(time.Minute, -1_000_000)
	s.Kill()
	time.Sleep(500 * time.Millisecond)
	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got, want := shows(t, s), time.Minute-time.Since(at); !near(got, want) {
		t.Errorf("a clock that stands still, after a restart: %v, want %v", got, want)
	}
	set(2*time.Hour, 0)
	if got := ask(t, s, "GET key"); got != "$-1" {
		t.Errorf("after its time: %s", got)
	}
	if got := shows(t, other); !near(got, 0) {
		t.Errorf("another server is off by %v", got)
	}
}
