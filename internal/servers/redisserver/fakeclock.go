package redisserver

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// FakeClock is the wall clock of one server, kept over its restarts. It is set through
// libfaketime, a preloaded library that replaces the C library's clock functions and reads
// the time to report from a file at every call. The monotonic clock is not changed.
type FakeClock struct {
	file string

	at    time.Time     // when the clock was last set, with a monotonic reading
	ahead time.Duration // how far it was ahead of the machine's clock then
	ppm   int64         // how much too fast it has run since

	// loaded is when the running process loaded the library, by the machine's clock. The
	// library counts the gain of a rate from then on.
	loaded time.Time
}

// NewFakeClock returns a clock that agrees with the machine's. Its state is kept in file,
// whose directory must exist.
func NewFakeClock(file string) *FakeClock { return &FakeClock{file: file, at: time.Now()} }

// FakeTimeEnv returns the environment of a process that uses the clock. preload comes from
// [FindFakeTime]; file is the path of the clock's file as the process sees it.
func FakeTimeEnv(preload, file string) []string {
	return []string{"LD_PRELOAD=" + preload, "FAKETIME_TIMESTAMP_FILE=" + file, "FAKETIME_NO_CACHE=1", "FAKETIME_DONT_FAKE_MONOTONIC=1"}
}

// offset returns how far the clock is ahead of the machine's at now.
func (c *FakeClock) offset(now time.Time) time.Duration {
	return c.ahead + c.drift(now.Sub(c.at))
}

// drift returns how much the clock's rate gains in a time.
func (c *FakeClock) drift(in time.Duration) time.Duration {
	return time.Duration(float64(in) * float64(c.ppm) / 1e6)
}

// Set makes the clock show ahead more than the machine's from now on, and run ppm parts per
// million too fast.
func (c *FakeClock) Set(ahead time.Duration, ppm int64) error {
	c.at, c.ahead, c.ppm = time.Now(), ahead, ppm
	return c.write(c.at)
}

// Load prepares the clock for a process that is about to start.
func (c *FakeClock) Load() error {
	c.loaded = time.Now()
	return c.write(c.loaded)
}

// probeOffset is how far Settle sets the clock back to check whether the process reads the
// file. No key expires in the meantime.
const probeOffset = 24 * time.Hour

// ErrFakeTimeIgnored reports a process whose clock does not follow the file.
var ErrFakeTimeIgnored = errors.New("its clock cannot be set: libfaketime was not loaded, or cannot read the file that sets the time")

// Settle finds out when the running process loaded the library: a clock that is stopped
// shows that time. shown reads the process's clock.
func (c *FakeClock) Settle(shown func() (time.Time, error)) error {
	if err := c.writeFile(-probeOffset, 0); err != nil {
		return err
	}
	back, err := shown()
	if err != nil {
		return err
	}
	now := time.Now()
	loaded := back.Add(probeOffset)
	if now.Sub(loaded).Abs() > probeOffset/2 {
		return ErrFakeTimeIgnored
	}
	c.loaded = now.Add(loaded.Sub(now.Round(0))) // as a reading of the monotonic clock
	return c.write(now)
}

// write updates the file. The library turns the machine's time t into loaded + (t - loaded)
// × rate + offset.
func (c *FakeClock) write(now time.Time) error {
	return c.writeFile(c.offset(now)-c.drift(now.Sub(c.loaded)), 1+float64(c.ppm)/1e6)
}

// writeFile replaces the file by renaming a new one: the server reads it at every look at
// its clock and must never see half of it. The server may run as another user, so everybody
// may read it.
func (c *FakeClock) writeFile(offset time.Duration, rate float64) error {
	text := fmt.Sprintf("%+.9f x%.6f\n", offset.Seconds(), rate)
	if err := errors.Join(os.WriteFile(c.file+".new", []byte(text), 0o644), os.Chmod(c.file+".new", 0o644)); err != nil {
		return err
	}
	return os.Rename(c.file+".new", c.file)
}

// libraries are the paths where distributions install libfaketime.
var libraries = []string{
	"/usr/lib/*/faketime/libfaketime.so.1",
	"/usr/lib64/faketime/libfaketime.so.1",
	"/usr/lib/faketime/libfaketime.so.1",
}

// libcs are the paths of the C library. It has to be preloaded as well, before Redis's
// allocator (jemalloc): jemalloc would call libfaketime before that has found the C
// library, and hang.
var libcs = []string{"/lib/*-linux-gnu/libc.so.6", "/lib64/libc.so.6", "/usr/lib/libc.so.6"}

// FindFakeTime returns the files to preload for a server on this machine to run under
// libfaketime, separated by colons.
func FindFakeTime() (preload string, err error) {
	library, libc := firstMatch(libraries), firstMatch(libcs)
	if library == "" || libc == "" {
		return "", errors.New("libfaketime not found, which sets the clocks of servers: install it (apt-get install libfaketime; dnf install libfaketime)")
	}
	return library + ":" + libc, nil
}

func firstMatch(patterns []string) string {
	for _, p := range patterns {
		if found, err := filepath.Glob(p); err == nil && len(found) > 0 {
			return found[0]
		}
	}
	return ""
}
