//go:build linux

// Package containertest tests the command on Redis in containers. Tests that need a Docker engine are
// skipped without one.
package containertest

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
	"time"

	"github.com/lockstorm/lockstorm/internal/cli"
	"github.com/lockstorm/lockstorm/internal/testkit"
)

// asCommand makes the test binary the command itself.
const asCommand = "LOCKSTORM_TEST_COMMAND"

func TestMain(m *testing.M) {
	if os.Getenv(asCommand) != "" {
		cli.Main()
	}
	os.Exit(m.Run())
}

// start returns the command, which has not been started, with these variables in its environment.
func start(env []string, args ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = slices.Concat(os.Environ(), []string{asCommand + "=1"}, env)
	return cmd
}

// command runs the command, and returns its exit code and what it printed.
func command(t *testing.T, env []string, args ...string) (code int, out, problems string) {
	t.Helper()
	cmd := start(env, args...)
	var o, p strings.Builder
	cmd.Stdout, cmd.Stderr = &o, &p
	_ = cmd.Run() // its exit code says how
	if cmd.ProcessState == nil {
		t.Fatal("the command does not start")
	}
	return cmd.ProcessState.ExitCode(), o.String(), p.String()
}

// soon waits until something holds.
func soon(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(3 * time.Minute); !holds(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("after three minutes still not: %s", what)
		}
	}
}

// Rows of the debate show on containers what they show elsewhere. On a machine that is
// busy the lock may not be had at all, and then a run says nothing. Nor does it if a
// container takes longer to start than the lease lasts, so each further try has longer
// leases.
func TestRowsOfTheDebate(t *testing.T) {
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
	text := testkit.Read(t, filepath.Join("..", "..", "..", "scenarios", "debate", row+".yaml"))
	long := strings.NewReplacer(
		"ttl: 1s", fmt.Sprintf("ttl: %ds", times),
		"work: {min: 850ms, max: 920ms}", fmt.Sprintf("work: {min: %dms, max: %dms}", 850*times, 920*times),
		"by: 2s", fmt.Sprintf("by: %ds", 2*times),
		"grant: 2s", fmt.Sprintf("grant: %ds", 2*times),
		"horizon: 5s", fmt.Sprintf("horizon: %ds", 5*times),
	).Replace(text)
	file := filepath.Join(t.TempDir(), row+".yaml")
	testkit.Write(t, file, long)
	return file
}

// lease is the verdict of a run on lease exclusion.
func lease(t *testing.T, row string, seed int) string {
	t.Helper()
	code, out, problems := command(t, nil, "run", row, "--backend", "container", "--seed", fmt.Sprint(seed), "--format", "json", "--out", "")
	var o struct{ Verdicts map[string]string }
	if err := json.Unmarshal([]byte(out), &o); err != nil {
		t.Fatalf("exit code %d: %v: %s", code, err, problems)
	}
	return o.Verdicts["lease"]
}

// A run says what it was made with.
func TestVersionsAreStored(t *testing.T) {
	testkit.NeedEngine(t)
	dir := t.TempDir()
	command(t, nil, "run", "calm", "--backend", "container", "--out", dir)
	text, err := os.ReadFile(filepath.Join(dir, "calm-container-1", "run.json"))
	if err != nil {
		t.Fatal(err)
	}
	var stored struct{ Versions map[string]string }
	if err := json.Unmarshal(text, &stored); err != nil {
		t.Fatal(err)
	}
	for _, what := range []string{"docker", "redis-server"} {
		if stored.Versions[what] == "" {
			t.Errorf("no version of %s in %v", what, stored.Versions)
		}
	}
}

// Whatever ends the command, its containers, its image and its files end as well.
func TestNothingSurvivesTheCommand(t *testing.T) {
	testkit.NeedEngine(t)
	for signal, wantCode := range map[syscall.Signal]int{syscall.SIGINT: undecided, syscall.SIGTERM: undecided, syscall.SIGKILL: -1} {
		t.Run(signal.String(), func(t *testing.T) {
			temp := t.TempDir()
			before := testkit.OurContainers(t)
			ours := func() []string {
				return slices.DeleteFunc(testkit.OurContainers(t), func(n string) bool { return slices.Contains(before, n) })
			}
			cmd := start([]string{"TMPDIR=" + temp}, "run", "slow-acquire", "--backend", "container", "--out", t.TempDir())
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = cmd.Process.Kill() })
			soon(t, "five containers and an image are there", func() bool { return len(ours()) == 6 })
			if err := cmd.Process.Signal(signal); err != nil {
				t.Fatal(err)
			}
			_ = cmd.Wait()
			if got := cmd.ProcessState.ExitCode(); got != wantCode {
				t.Errorf("exit code %d, want %d", got, wantCode)
			}
			soon(t, "they are gone", func() bool { return len(ours()) == 0 })
			soon(t, "no directory is left", func() bool {
				left, err := os.ReadDir(temp)
				return err == nil && len(left) == 0
			})
		})
	}
}

// The exit codes.
const (
	badInput  = 2
	undecided = 3
)

// wantLine checks that the command has ended for bad input, with one line that has these parts.
func wantLine(t *testing.T, code int, problems string, parts ...string) {
	t.Helper()
	if code != badInput || strings.Count(problems, "\n") != 1 {
		t.Errorf("exit code %d: %s", code, problems)
	}
	for _, part := range parts {
		if !strings.Contains(problems, part) {
			t.Errorf("no %q in %s", part, problems)
		}
	}
}

// An image that lacks a feature is rejected before anything starts.
func TestImageOfTheUserHasNoClock(t *testing.T) {
	code, _, problems := command(t, nil, "run", "--backend", "container:redis:7", "--out", "", "node-clock-jump")
	wantLine(t, code, problems, "the container backend cannot carry out", "clock-jump", "container without :IMAGE")
}

// Without a Docker engine the command prints one line and leaves nothing behind.
func TestNoEngine(t *testing.T) {
	temp, nowhere := t.TempDir(), t.TempDir()+"/docker.sock"
	for host, says := range map[string]string{
		"unix://" + nowhere:    nowhere,
		"tcp://192.0.2.1:2375": "may be on another machine",
	} {
		code, _, problems := command(t, []string{"TMPDIR=" + temp, "DOCKER_HOST=" + host}, "run", "calm", "--backend", "container", "--out", "")
		wantLine(t, code, problems, says, "DOCKER_HOST=unix:///path")
	}
	if left, _ := os.ReadDir(temp); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}
