//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestMutants(t *testing.T) {
	code, out, problems := command(t, "mutants", "1", "--json")
	want(t, "exit code", code, exitAsExpected)
	want(t, "problems", problems, "")
	lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
	if len(lines) != 2 {
		t.Fatalf("want an object for the mutant, and one for the score:\n%s", out)
	}
	var r struct {
		Number, Outcome string
		Runs            int
		Named           struct {
			Property, Story string
			Scenario        json.RawMessage
		}
	}
	if err := json.Unmarshal([]byte(lines[0]), &r); err != nil {
		t.Fatal(err)
	}
	if r.Number != "1" || r.Outcome != "V1" || r.Runs == 0 || r.Named.Property != "lease" || r.Named.Story == "" {
		t.Errorf("%+v", r)
	}
	var total struct{ Score map[string]float64 }
	if err := json.Unmarshal([]byte(lines[1]), &total); err != nil {
		t.Fatal(err)
	}
	if s := total.Score; s["mutants"] != 1 || s["caught"] != 1 || s["as_named"] != 1 {
		t.Errorf("%v", s)
	}
}

// A lock without a defect is hunted too, and a budget that is too small misses what
// there is.
func TestMutantsMissed(t *testing.T) {
	code, out, _ := command(t, "mutants", "0", "1", "--control", "1", "--budget", "1ns")
	want(t, "exit code", code, exitContradiction)
	wantIn(t, out, "none: redlock as it is", "missed", "0 of 1 caught")
}

func TestMutantsThatCannotBe(t *testing.T) {
	for _, args := range [][]string{{"99"}, {"1", "--budget", "0s"}, {"--control", "-1"}, {"--json", "--markdown"}} {
		code, _, problems := command(t, append([]string{"mutants"}, args...)...)
		want(t, "exit code", code, exitBadInput)
		want(t, "lines", strings.Count(problems, "\n"), 1)
	}
	_, _, problems := command(t, "mutants", "7c")
	wantIn(t, problems, `unknown mutant "7c": there are 0, 1, 2`)
	t.Setenv("PATH", t.TempDir())
	_, _, problems = command(t, "mutants")
	want(t, "lines", strings.Count(problems, "\n"), 1)
	wantIn(t, problems, "no Go toolchain")
}

func TestMutantsOutsideACheckout(t *testing.T) {
	t.Chdir(t.TempDir())
	code, _, problems := command(t, "mutants")
	want(t, "exit code", code, exitBadInput)
	want(t, "lines", strings.Count(problems, "\n"), 1)
	wantIn(t, problems, "not in a checkout of github.com/lockstorm/lockstorm")
}

// Whatever ends the command, what it has started ends as well; its directory goes with
// what gives it the time to.
func TestNothingSurvivesMutants(t *testing.T) {
	for signal, wantCode := range map[syscall.Signal]int{
		syscall.SIGINT: exitUndecided, syscall.SIGTERM: exitUndecided, syscall.SIGKILL: -1,
	} {
		t.Run(signal.String(), func(t *testing.T) {
			t.Parallel()
			temp := t.TempDir()
			var out bytes.Buffer
			cmd := exec.Command(os.Args[0], "mutants", "0", "--budget", "10m")
			cmd.Env = append(os.Environ(), asCommand+"=1", "TMPDIR="+temp)
			cmd.Stdout, cmd.Stderr = &out, &out
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = cmd.Process.Kill() })
			soon(t, "a hunter hunts", func() bool { return serversBelow(temp) == 1 })
			if err := cmd.Process.Signal(signal); err != nil {
				t.Fatal(err)
			}
			_ = cmd.Wait()
			want(t, "exit code", cmd.ProcessState.ExitCode(), wantCode)
			soon(t, "no hunter hunts", func() bool { return serversBelow(temp) == 0 })
			if left, _ := filepath.Glob(filepath.Join(temp, "*")); len(left) > 0 && signal != syscall.SIGKILL {
				t.Errorf("left behind: %v", left)
			}
			if strings.Contains(out.String(), "goroutine ") {
				t.Errorf("a stack trace:\n%s", out.String())
			}
		})
	}
}
