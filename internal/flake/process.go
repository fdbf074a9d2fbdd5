//go:build linux

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
)

// mark is an environment variable of all processes of a run, to find those that a test left
// behind.
const mark = "LOCKSTORM_FLAKE_RUN"

// command returns a command in its own process group, so that Ctrl-C reaches only this
// process. It is killed with its children when ctx ends. The kernel kills it when the thread
// ends that started it, so the caller of Start has to lock its thread.
func command(ctx context.Context, dir, name string, words ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, words...)
	cmd.Dir = dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	return cmd
}

// killMarked kills the processes with a mark, and returns how many there were.
func killMarked(marked string) (n int) {
	files, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil || !bytes.Contains(append([]byte{0}, text...), []byte("\x00"+marked+"\x00")) {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		if err == nil && pid != os.Getpid() && syscall.Kill(pid, syscall.SIGKILL) == nil {
			n++
		}
	}
	return n
}

// spinning is the argument that makes this program keep a core busy.
const spinning = "spin"

// spin keeps a core busy until stdin ends, as it does when the parent process ends.
func spin(stdin io.Reader) {
	go func() {
		_, _ = io.Copy(io.Discard, stdin)
		os.Exit(0)
	}()
	for n := 0; ; n++ {
		spun.Store(uint64(n))
	}
}

var spun atomic.Uint64 // keeps the loop from being optimised away

// keepBusy starts a process for each core that keeps it busy until stop is called.
func keepBusy() (stop func(), err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	var spinners []*exec.Cmd
	stop = func() {
		cancel()
		for _, s := range spinners {
			_ = s.Wait()
		}
	}
	for range runtime.NumCPU() {
		s := command(ctx, "", self, spinning)
		if _, err := s.StdinPipe(); err != nil {
			stop()
			return nil, err
		}
		if err := s.Start(); err != nil {
			stop()
			return nil, err
		}
		spinners = append(spinners, s)
	}
	return stop, nil
}

// stress slows the machine down, or makes its schedule unusual, while a test binary runs. The
// tests are shuffled under every stress.
type stress struct {
	name  string
	about string // for the page
	race  bool   // the binary is built with the race detector
	procs int    // GOMAXPROCS; 0: the default
	busy  bool   // other processes keep every core busy
	core  bool   // the process may use only one core
}

var stresses = []stress{
	{name: "busy", about: "a process beside it for each core, which never waits", busy: true},
	{name: "procs-1", about: "`GOMAXPROCS=1`", procs: 1},
	{name: "procs-2", about: "`GOMAXPROCS=2`", procs: 2},
	{name: "procs-8", about: "`GOMAXPROCS=8`", procs: 8},
	{name: "race", about: "built with `-race`", race: true},
	{name: "one-core", about: "one core by affinity (`taskset`)", core: true},
}

// command returns the command line under the stress. core is the core of a binary that may use
// only one.
func (s stress) command(core int, words ...string) []string {
	if s.core {
		return append([]string{"taskset", "--cpu-list", strconv.Itoa(core)}, words...)
	}
	return words
}

// environment returns the environment variables of the stress.
func (s stress) environment() []string {
	if s.procs > 0 {
		return []string{fmt.Sprintf("GOMAXPROCS=%d", s.procs)}
	}
	return nil
}

// environ returns the environment without variables that would be a stress.
func environ() (list []string) {
	for _, name := range os.Environ() {
		if len(name) < len("GOMAXPROCS=") || name[:len("GOMAXPROCS=")] != "GOMAXPROCS=" {
			list = append(list, name)
		}
	}
	return list
}

// wholePackage stands for a test if a binary failed and none of its tests did.
const wholePackage = "(no single test)"

// event is what test2json prints for each step of a test.
type event struct {
	Action string
	Test   string
	Output string
}

// progress is the state of a binary's tests.
type progress struct {
	last map[string]string // the last action of each test, except output
}

// follow reads the events of a binary until their end, and writes its output.
func follow(events io.Reader, output io.Writer) (progress, error) {
	p := progress{last: map[string]string{}}
	for d := json.NewDecoder(events); ; {
		var e event
		switch err := d.Decode(&e); {
		case errors.Is(err, io.EOF):
			return p, nil
		case err != nil:
			return p, fmt.Errorf("read the events of the tests: %w", err)
		}
		if e.Action == "output" {
			if _, err := io.WriteString(output, e.Output); err != nil {
				return p, err
			}
			continue
		}
		if e.Test != "" {
			p.last[e.Test] = e.Action
		}
	}
}

// count returns how many top-level tests ended with an action.
func (p progress) count(action string) (n int) {
	for test, last := range p.last {
		if last == action && !strings.Contains(test, "/") {
			n++
		}
	}
	return n
}

// failed returns the tests that caused a binary's failure: those that failed or, if none did,
// those that were running when it ended. A test is left out if one of its subtests is among
// them.
func (p progress) failed() []string {
	tests := p.ended("fail")
	if len(tests) == 0 {
		tests = p.ended("run", "cont")
	}
	if len(tests) == 0 {
		return []string{wholePackage}
	}
	return tests
}

func (p progress) ended(actions ...string) (tests []string) {
	for _, test := range slices.Sorted(maps.Keys(p.last)) {
		if slices.Contains(actions, p.last[test]) {
			tests = append(tests, test)
		}
	}
	all := slices.Clone(tests)
	return slices.DeleteFunc(tests, func(test string) bool {
		return slices.ContainsFunc(all, func(other string) bool { return strings.HasPrefix(other, test+"/") })
	})
}
