//go:build linux

package redisserver

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A server that ignores its clock's file is detected.
func TestClockThatIsNotHeeded(t *testing.T) {
	c := NewFakeClock(filepath.Join(t.TempDir(), "clock"))
	if err := c.Load(); err != nil {
		t.Fatal(err)
	}
	if err := c.Settle(func() (time.Time, error) { return time.Now(), nil }); !errors.Is(err, ErrFakeTimeIgnored) {
		t.Errorf("got %v", err)
	}
	loaded := time.Now()
	if err := c.Settle(func() (time.Time, error) { return loaded.Add(-probeOffset), nil }); err != nil {
		t.Error(err)
	}
}

func TestMissingLibraryIsOneLineThatHelps(t *testing.T) {
	defer func(before []string) { libraries = before }(libraries)
	libraries = []string{"/nowhere/libfaketime.so.1"}
	_, err := FindFakeTime()
	if err == nil || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), "apt-get install libfaketime") {
		t.Errorf("got: %v", err)
	}
}

// span is the time between two instants in which something happened.
type span struct{ from, to time.Time }

// shows returns how far a server's wall clock is ahead of ours, at least and at most.
func shows(t *testing.T, s *Server) (least, most time.Duration, asked span) {
	t.Helper()
	asked.from = time.Now()
	shown, err := s.operator().Time(t.Context())
	asked.to = time.Now()
	if err != nil {
		t.Fatal(err)
	}
	return shown.Sub(asked.to.Round(0)), shown.Sub(asked.from.Round(0)), asked
}

// blur is how far a clock may be off after it was set: the time it takes to read its file.
const blur = 20 * time.Millisecond

// wantClock checks that a clock was set ahead once and has run too fast since, and that it
// differs from ours by nothing else but the time that the operations took.
func wantClock(t *testing.T, what string, s *Server, ahead time.Duration, set span, rate float64, more time.Duration) {
	t.Helper()
	least, most, asked := shows(t, s)
	gained := func(d time.Duration) time.Duration { return ahead + time.Duration(rate*float64(d)) }
	low, high := gained(asked.from.Sub(set.to)), gained(asked.to.Sub(set.from))
	if rate < 0 {
		low, high = high, low
	}
	if most < low-more-blur || least > high+more+blur {
		t.Errorf("%s: it is ahead by %v to %v, want %v to %v", what, least, most, low, high)
	}
}

// The clock shows the time that was set, runs at the rate that was set, stands still, and
// stays so over a restart. The server's keys expire by it.
func TestClockOfAServer(t *testing.T) {
	f := openFleet(t, Options{Nodes: 2, Clocks: true, AppendOnly: true})
	s, other := f.Server(1), f.Server(2)
	wantClock(t, "at first", s, 0, span{time.Now(), time.Now()}, 0, 0)
	if got := ask(t, s, "SET key token PX 3600000"); got != "+OK" {
		t.Fatal(got)
	}
	set := func(ahead time.Duration, ppm int64) (at span) {
		t.Helper()
		at.from = time.Now()
		if err := s.SetClock(ahead, ppm); err != nil {
			t.Fatal(err)
		}
		at.to = time.Now()
		return at
	}
	wantClock(t, "after a jump by half an hour", s, 30*time.Minute, set(30*time.Minute, 0), 0, 0)
	if got := ask(t, s, "GET key"); got != "$5" {
		t.Errorf("before its time: %s", got)
	}
	at := set(-time.Hour, 900_000)
	time.Sleep(500 * time.Millisecond)
	wantClock(t, "with a clock at nearly twice the speed", s, -time.Hour, at, 0.9, 0)
	at = set(time.Minute, -1_000_000)
	s.Kill()
	time.Sleep(500 * time.Millisecond)
	starts := time.Now()
	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	wantClock(t, "a clock that stands still, after a restart", s, time.Minute, at, -1, time.Since(starts))
	set(2*time.Hour, 0)
	if got := ask(t, s, "GET key"); got != "$-1" {
		t.Errorf("after its time: %s", got)
	}
	wantClock(t, "another server", other, 0, span{time.Now(), time.Now()}, 0, 0)
}
