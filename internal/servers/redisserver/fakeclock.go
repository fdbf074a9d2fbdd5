package redisserver

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// FakeClock is the wall clock of one server, over all its processes.
type FakeClock struct {
	file string

	at    time.Time     // of the machine, monotonic reading included, when it was last set
	ahead time.Duration // of the machine's clock, at that time
	ppm   int64         // by which it runs too fast since

	// loaded is when the library was loaded in the process that runs, by the machine's
	// clock: from then on it counts what a rate gains.
	loaded time.Time
}

// NewFakeClock returns a clock that shows what the machine's does, and is kept in a file. Its
// directory has to be there.
func NewFakeClock(file string) *FakeClock { return &FakeClock{file: file, at: time.Now()} }

// FakeTimeEnv is what a process needs to run under it: preload as [FindFakeTime] says, and the path of
// the clock's file as the process sees it.
func FakeTimeEnv(preload, file string) []string {
	return []string{"LD_PRELOAD=" + preload, "FAKETIME_TIMESTAMP_FILE=" + file, "FAKETIME_NO_CACHE=1", "FAKETIME_DONT_FAKE_MONOTONIC=1"}
}

// aheadNow is how far it is ahead now.
func (c *FakeClock) aheadNow(now time.Time) time.Duration {
	return c.ahead + c.gained(now.Sub(c.at))
}

// gained is what its rate gains in so much time.
func (c *FakeClock) gained(in time.Duration) time.Duration {
	return time.Duration(float64(in) * float64(c.ppm) / 1e6)
}

// Set sets it: from now on it is ahead of the machine's clock, and runs ppm too fast.
func (c *FakeClock) Set(ahead time.Duration, ppm int64) error {
	c.at, c.ahead, c.ppm = time.Now(), ahead, ppm
	return c.write(c.at)
}

// Load prepares it for a process that starts now.
func (c *FakeClock) Load() error {
	c.loaded = time.Now()
	return c.write(c.loaded)
}

// far is by how much a clock is put back that is to show whether it heeds its file. Nothing
// expires meanwhile.
const far = 24 * time.Hour

// ErrFakeTimeIgnored is a clock that goes on as before, whatever its file says.
var ErrFakeTimeIgnored = errors.New("its clock cannot be set: libfaketime was not loaded, or cannot read what time it is to show")

// Settle finds out when the process that runs has loaded the library: it is what the
// clock shows that is told to stand still.
func (c *FakeClock) Settle(shown func() (time.Time, error)) error {
	if err := c.say(-far, 0); err != nil {
		return err
	}
	back, err := shown()
	if err != nil {
		return err
	}
	now := time.Now()
	loaded := back.Add(far)
	if now.Sub(loaded).Abs() > far/2 {
		return ErrFakeTimeIgnored
	}
	c.loaded = now.Add(loaded.Sub(now.Round(0))) // as a reading of the monotonic clock
	return c.write(now)
}

// write tells the library how the clock stands: what it makes of the machine's time t is
// loaded + (t - loaded) × rate + offset.
func (c *FakeClock) write(now time.Time) error {
	offset := c.aheadNow(now) - c.gained(now.Sub(c.loaded))
	return c.say(offset, 1+float64(c.ppm)/1e6)
}

// say writes the file; never half of it, for the server reads it at every look at its
// clock. The server may be somebody else.
func (c *FakeClock) say(offset time.Duration, rate float64) error {
	text := fmt.Sprintf("%+.9f x%.6f\n", offset.Seconds(), rate)
	if err := errors.Join(os.WriteFile(c.file+".new", []byte(text), 0o644), os.Chmod(c.file+".new", 0o644)); err != nil {
		return err
	}
	return os.Rename(c.file+".new", c.file)
}

// libraries are where distributions keep libfaketime.
var libraries = []string{
	"/usr/lib/*/faketime/libfaketime.so.1",
	"/usr/lib64/faketime/libfaketime.so.1",
	"/usr/lib/faketime/libfaketime.so.1",
}

// libc has to be loaded again before the allocator of Redis, jemalloc, which would
// otherwise ask libfaketime for the time before that has found the C library, and hang.
var libcs = []string{"/lib/*-linux-gnu/libc.so.6", "/lib64/libc.so.6", "/usr/lib/libc.so.6"}

// FindFakeTime is what makes a server on this machine run under libfaketime: the files to
// preload, with colons between them.
func FindFakeTime() (preload string, err error) {
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
