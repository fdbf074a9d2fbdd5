//go:build linux

package cli

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/fuzz"
	"github.com/lockstorm/lockstorm/internal/mutants"
)

func TestMutants(t *testing.T) {
	code, out, problems := command(t, "mutants", "1", "--json")
	want(t, "exit code", code, exitAsExpected)
	want(t, "problems", problems, "")
	lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
	if len(lines) != 2 {
		t.Fatalf("want an object for the mutant, and one for the score:\n%s", out)
	}
	type found struct {
		Property, Story string
		Scenario        json.RawMessage
	}
	var r struct {
		Number, Outcome string
		Runs            int
		Finds           []found
	}
	if err := json.Unmarshal([]byte(lines[0]), &r); err != nil {
		t.Fatal(err)
	}
	if r.Number != "1" || r.Outcome != "as_named" || r.Runs == 0 || len(r.Finds) == 0 {
		t.Errorf("%+v", r)
	}
	if !slices.ContainsFunc(r.Finds, func(f found) bool { return f.Property == "lease" && f.Story != "" && len(f.Scenario) > 0 }) {
		t.Errorf("want a find of lease exclusion: %+v", r.Finds)
	}
	var total struct{ Score mutantScore }
	if err := json.Unmarshal([]byte(lines[1]), &total); err != nil {
		t.Fatal(err)
	}
	if s := total.Score; s.Mutants != 1 || s.Caught != 1 || s.AsNamed != 1 || s.Stopped {
		t.Errorf("%+v", s)
	}
}

// A lock without a defect is hunted too, and a budget that is too small misses what
// there is.
func TestMutantsMissed(t *testing.T) {
	code, out, _ := command(t, "mutants", "0", "1", "--control", "1", "--budget", "1ns")
	want(t, "exit code", code, exitContradiction)
	wantIn(t, out, "none: redlock as it is", "missed", "0 of 1 caught")
}

// The score counts the defects that the hunt was not changed for apart from those of the catalogue,
// and the table names the sources and what was missed.
func TestMutantScoreOfDefectsFromOutside(t *testing.T) {
	all, err := mutants.All()
	if err != nil {
		t.Fatal(err)
	}
	var s mutantScore
	for _, m := range all {
		trial := mutants.Trial{Mutant: m}
		switch m.Number {
		case "1":
			trial.Finds = []mutants.Find{{Find: fuzz.Find{Property: checker.Lease, Run: 7}}}
		case "101":
			trial.Runs = 20
		case "106":
			trial.Finds = []mutants.Find{{Find: fuzz.Find{Property: checker.Contract, Run: 9}}}
		default:
			continue
		}
		s.add(trial)
	}
	var out strings.Builder
	if err := (mutantOptions{markdown: true}).print(s, &out); err != nil {
		t.Fatal(err)
	}
	wantIn(t, out.String(),
		"| V1 | V1 | 7 | SPSCommerce/redlock-py#3 |", "| C | missed | 20 | – |", "| L3 | C (another) | 9 | resque/resque-scheduler#298 |",
		"for which the hunt was widened: 1 of 1 caught, 1 by a property that is named.", "not changed (from 101): 1 of 2 caught, 0 by a property that is named.")
}

// After a stop, the mutants tried so far are printed.
func TestMutantsStopped(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	stop()
	for flag, told := range map[string]string{"--markdown": stoppedLine, "--json": `"mutants":0,"caught":0,"as_named":0,"alarms":0,"control_runs":0,"seconds":0,"stopped":true`} {
		var out, problems strings.Builder
		code := execute(ctx, []string{"mutants", "1", flag}, strings.NewReader(""), &out, &problems)
		want(t, "exit code", code, exitUndecided)
		want(t, "problems", problems.String(), "")
		wantIn(t, out.String(), told)
	}
}

// The page was made with all mutants.
func TestPageListsAllMutants(t *testing.T) {
	all, err := mutants.All()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("../../docs/evidence/mutants.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range all {
		if line := "\n| " + m.Number + " | " + m.Title + " | "; !strings.Contains(string(text), line) {
			t.Errorf("docs/evidence/mutants.md has no row for mutant %s: run make mutants", m.Number)
		}
	}
}

func TestMutantsThatCannotBe(t *testing.T) {
	for _, args := range [][]string{{"99"}, {"1", "--budget", "0s"}, {"--control", "-1"}, {"--json", "--markdown"}, {"3", "--control", "5"}} {
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
// what gives it the time to, or else with the next command.
func TestNothingSurvivesMutants(t *testing.T) {
	command := func(*testing.T) []string { return []string{"mutants", "0", "--budget", "10m"} }
	wantNothingSurvives(t, command, 1, func(t *testing.T, temp string, by syscall.Signal) {
		if by == syscall.SIGKILL {
			next := exec.CommandContext(t.Context(), os.Args[0], "mutants", "0", "--control", "1")
			next.Env = append(os.Environ(), asCommand+"=1", "TMPDIR="+temp)
			if out, err := next.CombinedOutput(); err != nil {
				t.Errorf("the next command: %v: %s", err, out)
			}
		}
		if left, _ := filepath.Glob(filepath.Join(temp, "*")); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
	})
}
