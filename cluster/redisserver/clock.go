//go:build linux

package redisserver

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// A server whose wall clock can be set runs under libfaketime, which stands between it
// and the C library: it reads, at every look at the clock, a file that says how far the
// clock is off, and how fast it runs since the library was loaded. The monotonic clock,
// by which the server waits, it leaves alone.

// libraries are where distributions keep libfaketime.
var libraries = []string{
	"/usr/lib/*/faketime/libfaketime.so.1",
	"/usr/lib64/faketime/libfaketime.so.1",
	"/usr/lib/faketime/libfaketime.so.1",
}

// libc has to be loaded again before the allocator of Redis, jemalloc, which would
// otherwise ask libfaketime for the time before that has found the C library, and hang.
var libcs = []string{"/lib/*-linux-gnu/libc.so.6", "/lib64/libc.so.6", "/usr/lib/libc.so.6"}

// preload is what makes a server run under libfaketime.
func preload() (string, error) {
	library, libc := first(libraries), first(libcs)
	if library == "" || libc == "" {
		return "", errors.New("there is no libfaketime, without which a server's clock cannot be set: install it (apt-get install libfaketime; dnf install libfaketime)")
	}
	return library + ":" + libc, nil
}

func first(patterns []string) string {
	for _, p := range patterns {
		if found, err := filepath.Glob(p); err == nil && len(found) > 0 {
			return found[0]
		}
	}
	return ""
}

// clock is the wall clock of one server.
type clock struct {
	file    string
	preload string

	at    time.Time     // of the machine, monotonic reading included, when it was last set
	ahead time.Duration // of the machine's clock, at that time
	ppm   int64         // by which it runs too fast since

	// loaded is when the library was loaded in the process that runs, by the machine's
	// clock: from then on it counts what a rate gains.
	loaded time.Time
}

func newClock(dir string) (*clock, error) {
	library, err := preload()
	if err != nil {
		return nil, err
	}
	return &clock{file: filepath.Join(dir, "clock"), preload: library, at: time.Now()}, nil
}

// env is what a process needs to run under it.
func (c *clock) env() []string {
	return []string{"LD_PRELOAD=" + c.preload, "FAKETIME_TIMESTAMP_FILE=" + c.file, "FAKETIME_NO_CACHE=1", "FAKETIME_DONT_FAKE_MONOTONIC=1"}
}

// aheadNow is how far it is ahead now.
func (c *clock) aheadNow(now time.Time) time.Duration {
	return c.ahead + c.gained(now.Sub(c.at))
}

// gained is what its rate gains in so much time.
func (c *clock) gained(in time.Duration) time.Duration {
	return time.Duration(float64(in) * float64(c.ppm) / 1e6)
}

// set sets it: from now on it is ahead of the machine's clock, and runs ppm too fast.
func (c *clock) set(ahead time.Duration, ppm int64) error {
	c.at, c.ahead, c.ppm = time.Now(), ahead, ppm
	return c.write(c.at)
}

// load prepares it for a process that starts now.
func (c *clock) load() error {
	c.loaded = time.Now()
	return c.write(c.loaded)
}

// settle finds out when the process that runs has loaded the library: it is what the
// clock shows that is told to stand still.
func (c *clock) settle(shown func() (time.Time, error)) error {
	if err := c.say(0, 0); err != nil {
		return err
	}
	loaded, err := shown()
	if err != nil {
		return err
	}
	now := time.Now()
	c.loaded = now.Add(loaded.Sub(now.Round(0))) // as a reading of the monotonic clock
	return c.write(now)
}

// write tells the library how the clock stands: what it makes of the machine's time t is
// loaded + (t - loaded) × rate + offset.
func (c *clock) write(now time.Time) error {
	offset := c.aheadNow(now) - c.gained(now.Sub(c.loaded))
	return c.say(offset, 1+float64(c.ppm)/1e6)
}

// say writes the file; never half of it, for the server reads it at every look at its
// clock.
func (c *clock) say(offset time.Duration, rate float64) error {
	text := fmt.Sprintf("%+.9f x%.6f\n", offset.Seconds(), rate)
	if err := os.WriteFile(c.file+".new", []byte(text), 0o600); err != nil {
		return err
	}
	return os.Rename(c.file+".new", c.file)
}
