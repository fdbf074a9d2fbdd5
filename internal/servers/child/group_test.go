//go:build linux

package child

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// sleeper adds a server that serves at once and does nothing.
func sleeper(t *testing.T, g *Group) *Daemon {
	t.Helper()
	d, err := g.Add("sleeper", 1)
	if err != nil {
		t.Fatal(err)
	}
	d.Name, d.StartTimeout, d.QuitTimeout, d.QuitSignal = "sleep", childPatience, childPatience, syscall.SIGTERM
	d.Command = func() (*exec.Cmd, error) { return exec.Command("sleep", "600"), nil }
	d.Await = func(context.Context, *Run) error { return nil }
	return d
}

func newGroup(t *testing.T) *Group {
	t.Helper()
	t.Setenv("TMPDIR", t.TempDir())
	g, err := NewGroup()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = g.Close() })
	return g
}

// The reaper kills a server that outlives this program.
func TestReaperKillsWhoWorksInTheDirectory(t *testing.T) {
	g := newGroup(t)
	d := sleeper(t, g)
	if err := g.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	run := d.run
	run.killed.Store(true)
	if err := g.reaper.Close(); err != nil { // as if this program had died and the server had not
		t.Fatal(err)
	}
	select {
	case <-run.Ended():
	case <-time.After(childPatience):
		t.Error("the server lives")
	}
	if left, _ := os.ReadDir(os.Getenv("TMPDIR")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	g.closing.Do(func() { d.Ports[0].Free(); g.forker.Close() })
}

// A server that dies by itself is reported once, one that is killed or shut down never.
func TestGroupReportsDeaths(t *testing.T) {
	g := newGroup(t)
	d := sleeper(t, g)
	for _, end := range []func(){d.Kill, d.Quit, func() { _ = syscall.Kill(d.Pid(), syscall.SIGKILL) }} {
		if err := d.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		if len(g.Died()) > 0 {
			t.Fatal(<-g.Died())
		}
		end()
	}
	select {
	case err := <-g.Died():
		if want := "sleep died, and no fault of the plan killed it (signal: killed)"; !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	case <-time.After(childPatience):
		t.Error("the death is not reported")
	}
}

// A server that never serves is killed when the time is over, and one that ends is reported
// with its log.
func TestStartThatFails(t *testing.T) {
	g := newGroup(t)
	d := sleeper(t, g)
	d.StartTimeout = 50 * time.Millisecond
	d.Await = func(ctx context.Context, r *Run) error {
		return Await(ctx, d.Name, r, func(context.Context) bool { return false })
	}
	if err := d.Start(t.Context()); err == nil || !strings.Contains(err.Error(), "sleep does not answer (waited for 50ms)") {
		t.Errorf("got %v", err)
	}
	if pid := d.Pid(); pid != 0 {
		t.Errorf("process %d is left", pid)
	}
	d.StartTimeout = childPatience
	d.Command = func() (*exec.Cmd, error) { return exec.Command("sh", "-c", "echo no such option; exit 1"), nil }
	if err := d.Start(t.Context()); err == nil || !strings.Contains(err.Error(), "exit status 1") || !strings.Contains(err.Error(), "no such option") {
		t.Errorf("got %v", err)
	}
}
