package cli

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/scenarios"
)

// Law: check says of a stored run what run said.
func TestRunStoresWhatCheckJudges(t *testing.T) {
	dir := t.TempDir()
	code, out, _ := command(t, "run", "crash-restart", "--seed", "3", "--out", dir)
	want(t, "exit code", code, exitAsExpected)
	code, again, _ := command(t, "check", filepath.Join(dir, "crash-restart-sim-3"))
	want(t, "exit code of check", code, exitAsExpected)
	out = regexp.MustCompile(`\nSEED .*\n.*\nreplay .*\n`).ReplaceAllString(out, "") // how to repeat it
	if before, _, _ := strings.Cut(out, "\nstored in"); before != again {
		t.Errorf("run said\n%s\ncheck said\n%s", before, again)
	}
}

// Law: of many runs the first stays stored, and the first that violates each property; JSON has all runs, and the
// directories of these.
func TestRunsThatAreKept(t *testing.T) {
	elsewhere(t)
	_, out, problems := command(t, "run", "calm", "--faults", "all", "--runs", "120", "--format", "json")
	want(t, "on stderr", problems, "")
	seen := map[string]bool{}
	var wanted []string
	runs := 0
	for line := range strings.Lines(out) {
		var run jsonLine
		if err := json.Unmarshal([]byte(line), &run); err != nil {
			t.Fatal(err)
		}
		runs++
		keep := runs == 1
		for p, v := range run.Verdicts {
			if key := p.Code() + v.String(); (v == checker.Violated || v == checker.Unknown) && !seen[key] {
				seen[key], keep = true, true
			}
		}
		if keep {
			wanted = append(wanted, fmt.Sprintf("calm-sim-%d", run.Seed))
			want(t, "directory", run.Dir, filepath.Join("runs", wanted[len(wanted)-1]))
		} else {
			want(t, "directory", run.Dir, "")
		}
		if _, err := runner.ParseReplay(run.Replay); err != nil {
			t.Error(err)
		}
	}
	if slices.Sort(wanted); len(wanted) < 3 || runs != 120 {
		t.Errorf("%d runs, want some that violate something to keep: %v", runs, wanted)
	}
	want(t, "stored", inDir(t, "runs"), strings.Join(wanted, " "))
}

// JSON has an object a run, and nothing else.
func TestRunJSON(t *testing.T) {
	scenario, err := scenarios.Find("pause-then-write")
	if err != nil {
		t.Fatal(err)
	}
	code, out, problems := command(t, "run", scenario.Name, "--format", "json", "--runs", "2", "--out", t.TempDir())
	want(t, "exit code", code, exitAsExpected)
	want(t, "on stderr", problems, "")
	lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
	want(t, "lines", len(lines), 2)
	var o struct {
		Scenario   string            `json:"scenario"`
		Backend    string            `json:"backend"`
		Seed       int               `json:"seed"`
		Verdicts   map[string]string `json:"verdicts"`
		Expected   map[string]string `json:"expected"`
		AsExpected bool              `json:"as_expected"`
		Grants     int               `json:"grants"`
		Measured   map[string]any    `json:"measurements"`
		TraceHash  string            `json:"trace_hash"`
		Dir        string            `json:"dir"`
		Replay     string            `json:"replay"`
	}
	dec := json.NewDecoder(strings.NewReader(lines[1]))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&o); err != nil {
		t.Fatal(err)
	}
	want(t, "run", fmt.Sprint(o.Scenario, o.Backend, o.Seed, o.AsExpected, o.Grants, o.Measured["grants"], len(o.TraceHash)), "pause-then-writesim2 true 2 2 16")
	want(t, "verdicts", len(o.Verdicts), len(checker.Properties()))
	want(t, "verdicts expected", len(o.Expected), len(scenario.Expect))
	for _, m := range []map[string]string{o.Verdicts, o.Expected} {
		want(t, "some verdicts", m["lease"]+m["effect"]+m["cleanup"], "holdsviolatedholds")
	}
}

var replayCommand = regexp.MustCompile(`lockstorm (replay v1\.\S+(?: --scenario \S+)?)`)

// Law: run prints the command that repeats a run that violates something, of a scenario by name and in a file, with
// and without generated faults, and whether that is a limit or a defect. The repetition says the same.
func TestViolatedRunIsPrintedWithItsReplay(t *testing.T) {
	file := filepath.Join(t.TempDir(), "mine.yaml")
	write(t, file, scenarioText(t, "crash-restart"))
	story := func(text string) string {
		_, story, _ := strings.Cut(text, "lease exclusion violated")
		story, _, _ = strings.Cut(story, "\n\n")
		return story
	}
	for _, line := range []string{"crash-restart", file, "crash-restart --faults all", file + " --faults pause:2,crash --most 3"} {
		args := append([]string{"run", "--runs", "3", "--seed", "7", "--out", ""}, strings.Fields(line)...)
		code, printed, _ := command(t, args...)
		found := replayCommand.FindStringSubmatch(printed)
		if found == nil || len(found[1]) > runner.MaxReplay+len(" --scenario ")+len(file)+len("replay ") {
			t.Fatalf("no replay string:\n%s", printed)
		}
		wantIn(t, printed, "limit: fault 2: node 3 can return after 0s")
		again, repeated, problems := command(t, append(strings.Fields(found[1]), "--out", "")...)
		want(t, "exit code of "+line+problems, again, code)
		want(t, "story", story(repeated), story(printed))
		wantIn(t, repeated, "the same run: its trace hash is ")
		if replayCommand.MatchString(repeated) {
			t.Errorf("the repetition prints how to repeat it:\n%s", repeated)
		}
	}
}

// Law: what list prints of each scenario is a valid file.
func TestListedScenariosAreValid(t *testing.T) {
	dir := t.TempDir()
	args := []string{"run", "--check-only"}
	for _, s := range scenarios.All() {
		var text strings.Builder
		if err := s.Print(&text); err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(dir, s.Name+".yaml")
		write(t, file, text.String())
		args = append(args, file)
	}
	code, out, problems := command(t, args...)
	want(t, "exit code", code, exitAsExpected)
	want(t, "on stderr", problems, "")
	want(t, "lines", strings.Count(out, ": ok ("), len(scenarios.All()))
}
