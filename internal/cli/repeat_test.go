package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var replayCommand = regexp.MustCompile(`lockstorm (replay v2\.\S+(?: --scenario \S+)?)`)

// Law: run prints the command that repeats a run that violates something, of a scenario by name and in
// a file, and whether that is a limit or a defect. The repetition says the same.
func TestViolatedRunIsPrintedWithItsReplay(t *testing.T) {
	_, text, _ := command(t, "show", "crash-restart")
	file := filepath.Join(t.TempDir(), "mine.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"crash-restart", file} {
		_, printed, _ := command(t, "run", name, "--runs", "3", "--seed", "7", "--out", "")
		found := replayCommand.FindAllStringSubmatch(printed, -1)
		if len(found) != 1 {
			t.Fatalf("%d commands, want that of the first run:\n%s", len(found), printed)
		}
		again := strings.Fields(found[0][1])
		wantIn(t, again[1], "v1.crash-restart.7.")
		want(t, "arguments", len(again), map[bool]int{true: 4, false: 2}[name == file])
		const limit = "A limit: fault 2: node 3 can return after 0s without something that it had acknowledged, sooner than 1s"
		wantIn(t, printed, limit)
		code, repeated, problems := command(t, append(again, "--out", "")...)
		want(t, "exit code "+problems, code, 0)
		wantIn(t, repeated, limit, "the same run: its trace is ")
		if replayCommand.MatchString(repeated) {
			t.Errorf("the repetition prints how to repeat it:\n%s", repeated)
		}

		_, objects, _ := command(t, "run", name, "--runs", "2", "--json", "--out", "")
		for line := range strings.Lines(objects) {
			var run jsonLine
			if err := json.Unmarshal([]byte(line), &run); err != nil || !strings.HasPrefix(run.Replay, "v1.crash-restart.") {
				t.Errorf("%v: %s", err, line)
			}
		}
	}
}

// A run of a scenario that flags have changed has no string; a run that violates nothing is not listed.
func TestRunsWithoutAReplay(t *testing.T) {
	_, printed, _ := command(t, "run", "crash-restart", "--max-events", "9000", "--seed", "3", "--out", "")
	const again = "run crash-restart --max-events 9000 --seed 3"
	wantIn(t, printed, "lockstorm "+again+"\n")
	_, repeated, _ := command(t, append(strings.Fields(again), "--out", "")...)
	want(t, "the repetition", repeated, printed)
	_, printed, _ = command(t, "run", "calm", "--out", "")
	if strings.Contains(printed, "lockstorm replay") || strings.Contains(printed, "limit") {
		t.Errorf("a calm run prints\n%s", printed)
	}
}

// Law: a bound that the author of a scenario has set, and that no such lock promises to keep, makes no
// defect.
func TestBoundOfAnAuthorIsNoDefect(t *testing.T) {
	_, printed, _ := command(t, "run", "split-vote-fixed-1ms", "--out", "")
	wantIn(t, printed, "A limit: with these settings the lock does not promise to keep the scenario's bound (grant).")
}
