//go:build linux

package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/lockstorm/lockstorm/internal/testkit"
)

// These tests run the command on Redis in containers. Those that need an engine are
// called TestContainer..., and "make test-container" runs them.

// Rows of the debate show on containers what they show elsewhere. On a machine that is
// busy the lock may not be had at all, and then a run says nothing. Nor does it if a
// container takes longer to start than the lease lasts, so each further try has longer
// leases.
func TestContainerRowsOfTheDebate(t *testing.T) {
	testkit.NeedEngine(t)
	for row, violates := range map[string]bool{
		"crash-restart": true, "delayed-restart": false, "node-pause": false, "node-clock-jump": true,
		"aof-everysec": true, "aof-always": false, "rdb-restart": true, "failover": true,
	} {
		t.Run(row, func(t *testing.T) {
			said := map[string]int{}
			scenario := row
			for seed := 1; seed <= 10 && said["violated"] == 0 && (violates || said["holds"] < 2); seed++ {
				if violates {
					scenario = withLongerLeases(t, row, 1<<min(seed-1, 4))
				}
				said[lease(t, scenario, seed)]++
			}
			if (said["violated"] > 0) != violates || said["violated"]+said["holds"] == 0 {
				t.Errorf("lease exclusion was %v; to be violated: %t", said, violates)
			}
		})
	}
}

// withLongerLeases returns a file with a row of the debate in which leases, and the work
// that almost fills them, last the given number of times as long.
func withLongerLeases(t *testing.T, row string, times int) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "scenarios", "debate", row+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	long := strings.NewReplacer(
		"ttl: 1s", fmt.Sprintf("ttl: %ds", times),
		"work: {min: 850ms, max: 920ms}", fmt.Sprintf("work: {min: %dms, max: %dms}", 850*times, 920*times),
		"by: 2s", fmt.Sprintf("by: %ds", 2*times),
		"grant: 2s", fmt.Sprintf("grant: %ds", 2*times),
		"horizon: 5s", fmt.Sprintf("horizon: %ds", 5*times),
	).Replace(string(text))
	file := filepath.Join(t.TempDir(), row+".yaml")
	if err := os.WriteFile(file, []byte(long), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// lease is the verdict of a run on lease exclusion.
func lease(t *testing.T, row string, seed int) string {
	t.Helper()
	code, out, problems := command(t, "run", row, "--backend", "container", "--seed", fmt.Sprint(seed), "--json", "--out", "")
	var o struct{ Verdicts map[string]string }
	if err := json.Unmarshal([]byte(out), &o); err != nil {
		t.Fatalf("exit code %d: %v: %s", code, err, problems)
	}
	return o.Verdicts["lease"]
}

// A run says what it was made with.
func TestContainerVersionsAreStored(t *testing.T) {
	testkit.NeedEngine(t)
	b, err := findBackend("container")
	if err != nil {
		t.Fatal(err)
	}
	made := versions(b.Backend)
	for _, what := range []string{"docker", "redis-server"} {
		if made[what] == "" {
			t.Errorf("no version of %s in %v", what, made)
		}
	}
}

// Whatever ends the command, its containers, its image and its files end as well.
func TestContainerDoesNotSurviveTheCommand(t *testing.T) {
	testkit.NeedEngine(t)
	for signal, wantCode := range map[syscall.Signal]int{syscall.SIGINT: exitUndecided, syscall.SIGTERM: exitUndecided, syscall.SIGKILL: -1} {
		t.Run(signal.String(), func(t *testing.T) {
			temp := t.TempDir()
			before := testkit.OurContainers(t)
			ours := func() []string {
				return slices.DeleteFunc(testkit.OurContainers(t), func(n string) bool { return slices.Contains(before, n) })
			}
			cmd := exec.Command(os.Args[0], "run", "slow-acquire", "--backend", "container", "--out", t.TempDir())
			cmd.Env = append(os.Environ(), asCommand+"=1", "TMPDIR="+temp)
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = cmd.Process.Kill() })
			soon(t, "five containers and an image are there", func() bool { return len(ours()) == 6 })
			if err := cmd.Process.Signal(signal); err != nil {
				t.Fatal(err)
			}
			_ = cmd.Wait()
			want(t, "exit code", cmd.ProcessState.ExitCode(), wantCode)
			soon(t, "they are gone", func() bool { return len(ours()) == 0 })
			soon(t, "no directory is left", func() bool {
				left, err := os.ReadDir(temp)
				return err == nil && len(left) == 0
			})
		})
	}
}

// An image that lacks a feature is rejected before anything starts, as is a flag without its
// purpose.
func TestImageOfTheUserHasNoClock(t *testing.T) {
	for _, c := range []struct {
		args []string
		want []string
	}{
		{[]string{"node-clock-jump", "--redis-image", "redis:7"}, []string{"the container backend cannot carry out", "clock-jump", "container with other flags"}},
		{[]string{"calm", "--redis-preload", "/x"}, []string{"--redis-preload needs --redis-image"}},
	} {
		code, _, problems := command(t, append([]string{"run", "--backend", "container", "--out", ""}, c.args...)...)
		want(t, "exit code", code, exitBadInput)
		want(t, "lines", strings.Count(problems, "\n"), 1)
		wantIn(t, problems, c.want...)
	}
	_, _, problems := command(t, "run", "--check-only", "../../scenarios/testdata/nothing", "--backend", "process", "--redis-image", "redis:7")
	wantIn(t, problems, "--redis-image needs --backend container")
}

// Without a Docker engine the command prints one line and leaves nothing behind.
func TestNoEngine(t *testing.T) {
	temp, nowhere := t.TempDir(), t.TempDir()+"/docker.sock"
	for host, says := range map[string]string{
		"unix://" + nowhere:    nowhere,
		"tcp://192.0.2.1:2375": "may be on another machine",
	} {
		cmd := exec.Command(os.Args[0], "run", "calm", "--backend", "container", "--out", "")
		cmd.Env = append(os.Environ(), asCommand+"=1", "TMPDIR="+temp, "DOCKER_HOST="+host)
		out, _ := cmd.CombinedOutput()
		want(t, "exit code", cmd.ProcessState.ExitCode(), exitBadInput)
		want(t, "lines", strings.Count(string(out), "\n"), 1)
		wantIn(t, string(out), says, "DOCKER_HOST=unix:///path")
	}
	if left, _ := os.ReadDir(temp); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}
