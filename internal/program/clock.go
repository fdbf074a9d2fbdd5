package program

import (
	"bytes"
	"debug/elf"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	"github.com/lockstorm/lockstorm/internal/servers/redisserver"
)

// wallClock is the wall clock of a program, which faults change as they do those of servers. nil is the
// machine's.
type wallClock struct {
	dir     string
	preload string
	*redisserver.FakeClock
}

// hasClock reports whether faults can set the clock of a program: libfaketime is installed, and the file of
// the program, if it is no script, is linked dynamically.
func hasClock(command string) bool {
	if _, err := redisserver.FindFakeTime(); err != nil {
		return false
	}
	if _, err := sleepLibrary(); err != nil {
		return false
	}
	path, err := exec.LookPath(command)
	if err != nil {
		return false
	}
	file, err := elf.Open(path)
	if err != nil {
		return true // a script
	}
	defer func() { _ = file.Close() }()
	return slices.ContainsFunc(file.Progs, func(p *elf.Prog) bool { return p.Type == elf.PT_INTERP })
}

// openClock returns the clock of a program, which has to be closed. If no fault sets it, it is nil.
func openClock(set bool) (*wallClock, error) {
	if !set {
		return nil, nil
	}
	preload, err := redisserver.FindFakeTime()
	if err != nil {
		return nil, err
	}
	sleep, err := sleepLibrary()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "lockstorm-clock-")
	if err != nil {
		return nil, err
	}
	library := filepath.Join(dir, "sleep.so")
	c := &wallClock{dir: dir, preload: library + ":" + preload}
	c.FakeClock = redisserver.NewFakeClock(c.file())
	if err := os.WriteFile(library, sleep, 0o700); err != nil {
		c.close()
		return nil, err
	}
	return c, nil
}

func (c *wallClock) file() string { return filepath.Join(c.dir, "clock") }

// environ returns the environment of a program that is about to start; nil: that of this program.
func (c *wallClock) environ() ([]string, error) {
	if c == nil {
		return nil, nil
	}
	return append(os.Environ(), redisserver.FakeTimeEnv(c.preload, c.file())...), c.Load()
}

// loaded returns an error if the clock of a process cannot be set: it uses no C library, or replaces the
// environment.
func (c *wallClock) loaded(pid int) error {
	if c == nil {
		return nil
	}
	files, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", pid))
	if err == nil && !bytes.Contains(files, []byte("libfaketime")) {
		err = redisserver.ErrFakeTimeIgnored
	}
	return err
}

func (c *wallClock) close() {
	if c != nil {
		_ = os.RemoveAll(c.dir)
	}
}
