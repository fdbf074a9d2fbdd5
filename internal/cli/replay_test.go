package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/runner/simulated"
	"github.com/lockstorm/lockstorm/scenarios"
)

// A run of a test is for that test to repeat, by the command beside the run.
func TestReplayOfATestsRun(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.FromSlash("../../evidence/locks/testdata/witnesses/redsync-failfast-gives-up"))); err != nil {
		t.Fatal(err)
	}
	code, _, told := command(t, "replay", dir)
	want(t, "exit code", code, exitBadInput)
	wantIn(t, told, "a run of locktest on backend memory cannot be repeated exactly", "-locktest.witness repeats its plan and seed, and lockstorm report "+dir+" shows it\n")

	write(t, filepath.Join(dir, "failure.txt"), "")
	_, _, told = command(t, "replay", dir)
	wantIn(t, told, filepath.Join(dir, "failure.txt")+" has that command")
}

// A stored run holds the plan that was drawn, and nothing that draws.
func TestStoredStorm(t *testing.T) {
	dir := t.TempDir()
	command(t, "run", "calm", "--faults", "crash", "--out", dir)
	text := read(t, filepath.Join(dir, "calm-sim-1", "run.json"))
	wantIn(t, text, `"plan": [`, `"crash": {`)
	for _, no := range []string{`"generate"`, `"expect"`} {
		if strings.Contains(text, no) {
			t.Errorf("%s in:\n%s", no, text)
		}
	}
}

// --inevitable says where the violation became inevitable, and what each fault has to do with it.
func TestReplayInevitable(t *testing.T) {
	dir := t.TempDir()
	_, _, _ = command(t, "run", "crash-restart", "--out", dir)
	run := filepath.Join(dir, "crash-restart-sim-1")
	page := filepath.Join(dir, "page.html")
	code, out, problems := command(t, "replay", run, "--inevitable", "--out", "", "--report", page)
	want(t, "exit code", code, exitAsExpected)
	want(t, "on stderr", problems, "report: "+page+"\n")
	wantIn(t, read(t, page), "The point of no return: backing", `<figure id="inevitable">`, `<a href="#find-B"><circle`, "without fault")
	wantIn(t, out, "How the violation of backing became inevitable (20 futures from each of ",
		"Point of no return: fault 2 begins: node 3 crashes, at 21.5ms.", "The checker names the same cause.",
		"2: node 3 crashes, 20ms after client 1 comes to granted, and that is over at once  0 %       100 %    necessary", "the same run: its trace hash is")
}

// A run with a branch is repeated from its string, from its directory, and for its page.
func TestReplayBranches(t *testing.T) {
	s, err := scenarios.Find("crash-restart")
	if err != nil {
		t.Fatal(err)
	}
	e, err := runner.Prepare(simulated.Backend(), s)
	if err != nil {
		t.Fatal(err)
	}
	r, err := e.WithCourse(runner.Course{Branches: []runner.Branch{{Event: 60, Seed: 7}}}).Run(t.Context(), 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	text, dir := r.Replay().String(), t.TempDir()
	wantIn(t, text, "v1.crash-restart.1.b60-7.")
	page := filepath.Join(dir, "page.html")
	code, out, _ := command(t, "replay", text, "--out", dir, "--report", page)
	want(t, "exit code", code, exitAsExpected)
	wantIn(t, out, "the same run: its trace hash is ")
	wantIn(t, read(t, page), "Message by message")
	code, out, _ = command(t, "replay", filepath.Join(dir, "crash-restart-sim-1"), "--out", "")
	want(t, "exit code", code, exitAsExpected)
	wantIn(t, out, "the same run: its trace hash is ")
}
