//go:build linux

package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// These tests run the command on real redis-server processes.

// decided runs a command on real servers, and once more, a few times, where the machine was
// too slow for a verdict; of one that always is, it says so.
func decided(t *testing.T, args ...string) (code int, out, problems string) {
	t.Helper()
	for range 3 {
		if code, out, problems = command(t, args...); code != exitUndecided {
			return code, out, problems
		}
		t.Logf("undecided; once more:\n%s%s", out, problems)
	}
	t.Skip("undecided: the machine is too slow")
	return
}

// leases runs a scenario on real servers and counts the runs that violated
// lease exclusion. In each of them backing is violated, or not known.
func leases(t *testing.T, scenario string, runs int) (code, violated int) {
	t.Helper()
	code, out, problems := decided(t, "run", scenario, "--backend", "process", "--runs", fmt.Sprint(runs), "--format", "json", "--out", t.TempDir())
	lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
	if len(lines) != runs {
		t.Fatalf("exit code %d, %d lines of %d: %s", code, len(lines), runs, problems)
	}
	for _, l := range lines {
		var o struct{ Verdicts map[string]string }
		if err := json.Unmarshal([]byte(l), &o); err != nil {
			t.Fatal(err)
		}
		switch o.Verdicts["lease"] {
		case "violated":
			violated++
			if b := o.Verdicts["backing"]; b != "violated" && b != "unknown" {
				t.Errorf("lease is violated, and backing is %s", b)
			}
		case "holds":
		default:
			t.Errorf("lease is %s", o.Verdicts["lease"])
		}
	}
	return code, violated
}

func TestCrashRestartOnRealServers(t *testing.T) {
	t.Parallel()
	if _, violated := leases(t, "crash-restart", 3); violated == 0 {
		t.Error("no run of 3 violated lease exclusion")
	}
}

func TestFailoverOnRealServers(t *testing.T) {
	t.Parallel()
	if _, violated := leases(t, "failover-fenced", 3); violated == 0 {
		t.Error("no run of 3 violated lease exclusion")
	}
}

// A node that stays away for longer than the TTL is safe; the same plan without
// the delay is not.
func TestRestartDelayOnRealServers(t *testing.T) {
	t.Parallel()
	const runs = 3 // of a second each, in which nothing can be hurried
	if _, violated := leases(t, "delayed-restart", runs); violated > 0 {
		t.Errorf("%d runs of %d violated lease exclusion in spite of the delay", violated, runs)
	}
	file := filepath.Join(t.TempDir(), "hasty.yaml")
	write(t, file, scenarioText(t, "delayed-restart", "after: 1.1s", "after: 0s"))
	code, violated := leases(t, file, runs)
	if violated < 1 || code != exitContradiction {
		t.Errorf("without the delay %d runs of %d violated lease exclusion, exit code %d", violated, runs, code)
	}
}

// Without a server, or with one that dies, the run is not stored and the error says what to do.
func TestNoServerToRun(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	dir := t.TempDir()
	code, _, problems := command(t, "run", "calm", "--backend", "process", "--out", dir)
	want(t, "exit code", code, exitBadInput)
	want(t, "lines", strings.Count(problems, "\n"), 1)
	wantIn(t, problems, "redis-server not found", "apt-get install redis-server")
	if entries, _ := os.ReadDir(dir); len(entries) != 0 {
		t.Errorf("left behind: %v", entries)
	}
}

func TestServerThatDiesAtStart(t *testing.T) {
	bin := t.TempDir()
	write(t, filepath.Join(bin, "redis-server"), "#!/bin/sh\necho 'Bad directive at line 7'\nexit 1\n")
	if err := os.Chmod(filepath.Join(bin, "redis-server"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	code, _, problems := command(t, "run", "calm", "--backend", "process", "--out", t.TempDir())
	want(t, "exit code", code, exitBadInput)
	want(t, "lines", strings.Count(problems, "\n"), 1)
	wantIn(t, problems, "exit status 1", "Bad directive at line 7")
}

// A client is rebuilt from its description in another process: the same file
// gives the same run there, bit for bit.
func TestAnotherProcessRunsTheSame(t *testing.T) {
	file := filepath.Join(t.TempDir(), "mine.yaml")
	write(t, file, scenarioText(t, "crash-restart"))
	args := []string{"run", file, "--seed", "5", "--format", "json", "--out", ""}
	_, here, _ := command(t, args...)
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), asCommand+"=1")
	there, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	want(t, "what the other process prints", string(there), here)
	wantIn(t, here, `"trace_hash":"`)
}

// Whatever ends the command, its servers and their directories end as well, those of all
// runs that go side by side.
func TestNothingSurvivesTheCommand(t *testing.T) {
	nothing := func(t *testing.T, temp string, _ syscall.Signal) {
		soon(t, "no directory is left", func() bool {
			left, err := os.ReadDir(temp)
			return err == nil && len(left) == 0
		})
	}
	wantNothingSurvives(t, func(t *testing.T) []string {
		return []string{"run", "slow-acquire", "--backend", "process", "--out", t.TempDir()}
	}, 5, nothing)
	wantNothingSurvives(t, func(t *testing.T) []string {
		return []string{"debate", "slow-acquire", "--backend", "process", "--runs", "3", "--parallel", "2", "--out", t.TempDir()}
	}, 10, nothing)
}

// wantNothingSurvives ends the command by each signal when so many processes run below its
// temporary directory, and wants them gone; wantLeft looks at what it left there.
func wantNothingSurvives(t *testing.T, command func(*testing.T) []string, processes int, wantLeft func(t *testing.T, temp string, by syscall.Signal)) {
	for signal, wantCode := range map[syscall.Signal]int{
		syscall.SIGINT: exitUndecided, syscall.SIGTERM: exitUndecided, syscall.SIGKILL: -1,
	} {
		t.Run(signal.String(), func(t *testing.T) {
			t.Parallel()
			temp := t.TempDir()
			var out bytes.Buffer
			cmd := exec.Command(os.Args[0], command(t)...)
			cmd.Env = append(os.Environ(), asCommand+"=1", "TMPDIR="+temp)
			cmd.Stdout, cmd.Stderr = &out, &out
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = cmd.Process.Kill() })
			soon(t, fmt.Sprintf("%d processes run", processes), func() bool { return serversBelow(temp) == processes })
			if err := cmd.Process.Signal(signal); err != nil {
				t.Fatal(err)
			}
			_ = cmd.Wait()
			want(t, "exit code", cmd.ProcessState.ExitCode(), wantCode)
			soon(t, "no process runs", func() bool { return serversBelow(temp) == 0 })
			wantLeft(t, temp, signal)
			if strings.Contains(out.String(), "goroutine ") {
				t.Errorf("a stack trace:\n%s", out.String())
			}
		})
	}
}

// serversBelow counts the processes whose working directory is below dir.
func serversBelow(dir string) (n int) {
	links, _ := filepath.Glob("/proc/[0-9]*/cwd")
	for _, l := range links {
		if cwd, err := os.Readlink(l); err == nil && strings.HasPrefix(cwd, dir+"/") {
			n++
		}
	}
	return n
}

// A point of a sweep is measured on real servers, one run after another, and kept.
func TestSweepOnRealServers(t *testing.T) {
	withSweep(t)
	dir := t.TempDir()
	code, out, problems := command(t, "sweep", "small", "--backend", "process", "--points", "1", "--runs", "1", "--out", dir)
	if code != exitAsExpected && code != exitUndecided { // on a machine that is too slow
		t.Fatalf("exit code %d: %s", code, problems)
	}
	wantIn(t, out, "lease exclusion (V1) violated, of 1 run per point")
	wantIn(t, read(t, filepath.Join(dir, "summary.md")), "lockstorm sweep small --backend process --points 1 --runs 1 --seed 1 --out DIR", "redis-server ")
}

// A server under another name and path is used, and its version stored under that name. A program that is no
// server is named.
func TestServerByItsPathOnRealServers(t *testing.T) {
	t.Parallel()
	redis, err := exec.LookPath(localServer)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	other := filepath.Join(dir, "other-server")
	if err := os.Symlink(redis, other); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(dir, "runs")
	if code, printed, said := command(t, "run", "calm", "--backend", "process:"+other, "--out", out); code != exitAsExpected && code != exitUndecided { // on a busy machine clean-up is unknown
		t.Fatalf("exit code %d: %s\n%s", code, said, printed)
	}
	if text := read(t, filepath.Join(out, "calm-process-1", "run.json")); !strings.Contains(text, `"other-server": "`) || strings.Contains(text, `"redis-server"`) {
		t.Errorf("no version of other-server in %s", text)
	}
	code, _, said := command(t, "run", "calm", "--out", "", "--backend", "process:/bin/true")
	want(t, "exit code", code, exitBadInput)
	wantIn(t, said, "true on 127.0.0.1:")
}
