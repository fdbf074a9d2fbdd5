package program

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/internal/servers/child"
	"github.com/lockstorm/lockstorm/internal/testkit"
)

// A daemon in a session of its own, which holds the standard output open, does not keep us waiting after the
// program is gone, whether the program exits or is killed. What the program had printed is received.
func TestDaemonDoesNotHoldUpTheEnd(t *testing.T) {
	for name, then := range map[string]string{"exits": "exit 7", "is killed": "exec sleep 1000"} {
		t.Run(name, func(t *testing.T) {
			f := child.NewForker()
			defer f.Close()
			pidFile := filepath.Join(t.TempDir(), "pid")
			script := fmt.Sprintf(`setsid sh -c 'echo $$ >%s.new && mv %[1]s.new %[1]s; exec sleep 1000' &
				while ! test -e %[1]s; do sleep 0.01; done
				echo '{"type":"ready","version":1}'; %s`, pidFile, then)
			received := make(chan FromProgram, 1)
			p, err := start(f, []string{"sh", "-c", script}, nil, func(m FromProgram) error { received <- m; return nil })
			if err != nil {
				t.Fatal(err)
			}
			if m := <-received; m.Type != "ready" {
				t.Errorf("received %+v, want ready", m)
			}
			text := testkit.Read(t, pidFile)
			daemon, err := strconv.Atoi(strings.TrimSpace(text))
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = syscall.Kill(daemon, syscall.SIGKILL) }()
			if name == "is killed" {
				p.Kill()
			}
			select {
			case <-p.gone:
			case <-time.After(2 * time.Minute):
				t.Fatal("the program is gone, and nobody noticed")
			}
			if name == "exits" && !strings.Contains(p.cause.Error(), "exit status 7") {
				t.Errorf("the cause is %v, want exit status 7", p.cause)
			}
		})
	}
}

// The wall clock of a program follows what is set, and its monotonic clock does not.
func TestWallClock(t *testing.T) {
	f := child.NewForker()
	defer f.Close()
	clock, err := openClock(true)
	if err != nil {
		t.Fatal(err)
	}
	defer clock.close()
	const script = `while read line; do date +%s >&2; echo '{"type":"ready","version":1}'; done`
	received := make(chan FromProgram, 1)
	p, err := start(f, []string{"sh", "-c", script}, clock, func(m FromProgram) error { received <- m; return nil })
	if err != nil {
		t.Fatal(err)
	}
	defer p.Kill()
	shown := func() (ahead time.Duration) {
		before := len(p.stderr.bytes())
		p.send([]byte("\n"))
		<-received
		for !strings.HasSuffix(string(p.stderr.bytes()[before:]), "\n") {
			time.Sleep(time.Millisecond) // it comes over another pipe
		}
		seconds, err := strconv.ParseInt(strings.TrimSpace(string(p.stderr.bytes()[before:])), 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		return time.Until(time.Unix(seconds, 0)).Round(time.Minute)
	}
	if ahead := shown(); ahead != 0 {
		t.Errorf("the clock is %v ahead before it is set", ahead)
	}
	if err := clock.loaded(p.cmd.Process.Pid); err != nil {
		t.Error(err)
	}
	for _, want := range []time.Duration{time.Hour, -2 * time.Hour} {
		if err := p.SetClock(want); err != nil {
			t.Fatal(err)
		}
		if ahead := shown(); ahead != want {
			t.Errorf("the clock is %v ahead, want %v", ahead, want)
		}
	}
	for _, python := range []string{"python3", "/usr/bin/python3"} {
		sleep := exec.Command(python, "-c", "import time; start = time.monotonic(); time.sleep(0.05); assert time.monotonic() - start >= 0.05")
		if sleep.Env, err = clock.environ(); err != nil {
			t.Fatal(err)
		}
		if text, err := sleep.CombinedOutput(); err != nil && !errors.Is(err, exec.ErrNotFound) && !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("a Python whose clock is set cannot sleep: %v\n%s", err, text)
		}
	}
	if err := clock.loaded(1); err == nil {
		t.Error("the library is loaded where it is not")
	}
}

// A program that is linked statically reads the machine's clock, whatever is loaded.
func TestHasClock(t *testing.T) {
	binary := filepath.Join(t.TempDir(), "static")
	library, err := sleepLibrary()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(binary, library, 0o700); err != nil { // it names no loader
		t.Fatal(err)
	}
	for command, want := range map[string]bool{"sh": true, "no-such-program-anywhere": false, binary: false} {
		if got := hasClock(command); got != want {
			t.Errorf("%s: %t", command, got)
		}
	}
}
