package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/runner/simulated"
	"github.com/lockstorm/lockstorm/scenarios"
)

var pasted = regexp.MustCompile(`lockstorm replay (\S+)`)

// replay repeats a run with generated faults, from the printed string and from the stored
// directory, and check judges it again.
func TestReplay(t *testing.T) {
	dir := t.TempDir()
	code, out, _ := command(t, "run", "crash-restart", "--faults", "all", "--runs", "3", "--seed", "5", "--out", dir)
	want(t, "exit code", code, exitContradiction)
	wantIn(t, out, "crash-restart: violations in ", " of 3 runs; expected verdicts do not apply to generated faults", "lease exclusion violated (seed 5):\n  ")
	found := pasted.FindStringSubmatch(out)
	if found == nil || len(found[1]) > runner.MaxReplay {
		t.Fatalf("no replay string in\n%s", out)
	}
	story := func(text string) string {
		_, story, _ := strings.Cut(text, "lease exclusion violated")
		story, _, _ = strings.Cut(story, "\n")
		return story
	}

	code, again, _ := command(t, "replay", found[1], "--out", dir)
	want(t, "exit code of the replay", code, exitContradiction)
	want(t, "story", story(again), story(out))
	stored := filepath.Join(dir, "crash-restart-sim-5")
	wantIn(t, again, "stored in "+stored+".2\nthe same run: its trace is ")

	code, again, _ = command(t, "replay", stored, "--out", dir)
	want(t, "exit code of the replay of the directory", code, exitContradiction)
	want(t, "story", story(again), story(out))
	wantIn(t, again, "the same run: its trace is ")

	code, again, _ = command(t, "check", stored)
	want(t, "exit code of check", code, exitContradiction)
	want(t, "story", story(again), story(out))

	// The line is copied as it was printed.
	code, again, _ = command(t, "replay", " lockstorm replay "+found[1]+"\n", "--out", dir)
	want(t, "exit code of the replay of the whole line", code, exitContradiction)
	want(t, "story", story(again), story(out))
}

// A run of a test is for that test to repeat, by the command beside the run.
func TestReplayOfATestsRun(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.FromSlash("../../bench/locks/testdata/witnesses/redsync-failfast-gives-up"))); err != nil {
		t.Fatal(err)
	}
	code, _, told := command(t, "replay", dir)
	want(t, "exit code", code, exitBadInput)
	wantIn(t, told, "a run of locktest on backend memory cannot be repeated exactly", "-locktest.witness repeats its plan and seed\n")

	if err := os.WriteFile(filepath.Join(dir, "failure.txt"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	_, _, told = command(t, "replay", dir)
	wantIn(t, told, filepath.Join(dir, "failure.txt")+" has that command")
}

// A stored run holds the plan that was drawn, and nothing that draws.
func TestStoredStorm(t *testing.T) {
	dir := t.TempDir()
	command(t, "run", "calm", "--faults", "crash", "--out", dir)
	text, err := os.ReadFile(filepath.Join(dir, "calm-sim-1", "run.json"))
	if err != nil {
		t.Fatal(err)
	}
	wantIn(t, string(text), `"plan": [`, `"crash": {`)
	for _, no := range []string{`"generate"`, `"expect"`} {
		if strings.Contains(string(text), no) {
			t.Errorf("%s in:\n%s", no, text)
		}
	}
}

func TestReplayOfAnotherRun(t *testing.T) {
	code, out, _ := command(t, "replay", runner.Replay{Scenario: "calm", Seed: 1, Trace: 1}.String(), "--out", "")
	want(t, "exit code", code, exitContradiction)
	wantIn(t, out, "calm: as expected (1 run)", "not the same run: its trace is ", ", was 00000001. The program or the scenario has changed.")
}

// A run of a scenario in a file is repeated by its replay string and the file, or from its directory.
func TestStormOverAFile(t *testing.T) {
	dir := t.TempDir()
	_, text, _ := command(t, "show", "crash-restart")
	file := filepath.Join(dir, "mine.yaml")
	if err := os.WriteFile(file, []byte(text+"generate: {most: 2, faults: {latency: 1}}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	code, out, _ := command(t, "run", file, "--out", dir)
	want(t, "exit code: what the file expects counts", code, exitAsExpected)
	stored := filepath.Join(dir, "crash-restart-sim-1")
	repeats := func(args ...string) {
		t.Helper()
		code, out, _ := command(t, append([]string{"replay", "--out", ""}, args...)...)
		want(t, "exit code of the replay", code, exitAsExpected)
		wantIn(t, out, "the same run: ")
	}
	repeats(stored)
	repeats(pasted.FindStringSubmatch(out)[1], "--scenario", file)

	_, out, _ = command(t, "run", file, "--out", "", "--faults", "pause:2", "--most", "1")
	code, out, _ = command(t, "replay", "--out", "", pasted.FindStringSubmatch(out)[1], "--scenario", file)
	want(t, "exit code of the replay with faults of the command line", code, exitContradiction)
	wantIn(t, out, "the same run: ")
}

// Each object of a storm has its replay string, whether it violates something
// or not.
func TestReplayStringsInJSON(t *testing.T) {
	_, out, _ := command(t, "run", "calm", "--faults", "all", "--runs", "3", "--json", "--out", "")
	for _, l := range strings.Split(strings.TrimSuffix(out, "\n"), "\n") {
		var o struct{ Replay string }
		if err := json.Unmarshal([]byte(l), &o); err != nil {
			t.Fatal(err)
		}
		if _, err := runner.ParseReplay(o.Replay); err != nil {
			t.Error(err)
		}
	}
}

func TestManyFailuresAreNotAllListed(t *testing.T) {
	_, out, _ := command(t, "run", "crash-restart", "--faults", "latency", "--runs", "60", "--out", "")
	want(t, "replay strings", len(pasted.FindAllString(out, -1)), mostFailures)
	wantIn(t, out, " more; --json lists all runs\n")
}

const keptCase = "../../testdata/cases/redlock-lease-crash-restart.yaml"

// replay repeats the run of a case, explains it, and compares it with the case.
func TestReplayOfACase(t *testing.T) {
	dir := t.TempDir()
	code, out, _ := command(t, "replay", keptCase, "--trace", "--out", dir)
	want(t, "exit code", code, exitAsExpected)
	wantIn(t, out,
		"! 202.000  judge     lease exclusion is broken: client 1 and client 2 both hold",
		keptCase+": as the case says, lease exclusion is violated\n",
		"\nlease exclusion violated (seed 1):\n  node 3 is cut off",
		"\nNotes: The shortest form",
		"stored in "+filepath.Join(dir, "crash-restart-sim-1"),
		"the same run: its trace is ")
	if strings.Contains(out, "The case tells it so") {
		t.Errorf("the same story is told twice:\n%s", out)
	}

	text, err := os.ReadFile(keptCase)
	if err != nil {
		t.Fatal(err)
	}
	changed := func(pairs ...string) string {
		file := filepath.Join(dir, "mine.yaml")
		if err := os.WriteFile(file, []byte(strings.NewReplacer(pairs...).Replace(string(text))), 0o644); err != nil {
			t.Fatal(err)
		}
		return file
	}

	code, out, _ = command(t, "replay", "--out", "", changed("shows: violated", "shows: holds"))
	want(t, "exit code of a case that says that it holds", code, exitContradiction)
	wantIn(t, out, "lease exclusion is violated, but the case says holds\n", "the same run: ")

	code, out, _ = command(t, "replay", "--out", "", changed("persistence: none", "persistence: aof-always"))
	want(t, "exit code when the lock is mended", code, exitContradiction)
	wantIn(t, out, `lease exclusion holds, but the case says violated. If the lock has been repaired, write "shows: holds" into the case; it then guards against a regression`,
		"not the stored run: its trace is ", "\nStory in the case:\n  node 3 is cut off")

	code, out, _ = command(t, "replay", "--out", "", changed("at: 100ms", "at: 120ms"))
	want(t, "exit code of another run that shows the same", code, exitAsExpected)
	wantIn(t, out, "as the case says, lease exclusion is violated\n", "not the stored run: ", "crashes at 120ms")

	code, _, problems := command(t, "replay", "--out", "", changed("kind: redlock", "kind: blueblock"))
	want(t, "exit code of an unknown lock", code, exitBadInput)
	wantIn(t, problems, "mine.yaml: scenario.lock.kind: ")

	code, _, problems = command(t, "replay", filepath.Join(dir, "none.yaml"))
	want(t, "exit code of a file that is not there", code, exitBadInput)
	wantIn(t, problems, "none.yaml: no such file")
}

// --trace prints the trace of a replay string or a stored run before the verdict.
func TestTraceOfAReplay(t *testing.T) {
	code, out, _ := command(t, "replay", "--trace", "--out", "", runner.Replay{Scenario: "calm", Seed: 1, Trace: 1}.String())
	want(t, "exit code", code, exitContradiction)
	wantIn(t, out, "calm: redlock, 3 clients, 5 nodes, seed 1.\n", "client 1  → nodes 1-5: set ", "\ncalm: as expected (1 run)\n")

	dir := t.TempDir()
	command(t, "run", "pause-then-write", "--out", dir)
	code, out, _ = command(t, "replay", "--trace", "--out", "", filepath.Join(dir, "pause-then-write-sim-1"))
	want(t, "exit code", code, exitAsExpected)
	wantIn(t, out, "Windows are those of section exclusion", "judge     section exclusion is broken", "the same run: ")
}

// A run is drawn of what the trace tells, beside the verdict.
func TestDiagramOfAReplay(t *testing.T) {
	file := filepath.Join(t.TempDir(), "crash.svg")
	code, out, _ := command(t, "replay", keptCase, "--diagram", file, "--out", "")
	want(t, "exit code", code, exitAsExpected)
	wantIn(t, out, "drawn to "+file+"\n", "as the case says, lease exclusion is violated\n")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	wantIn(t, string(text), "<svg", "SET r c1-1 NX PX 1000", "BOTH HOLD r, for 50ms")

	code, _, problems := command(t, "replay", keptCase, "--diagram", filepath.Join(file, "none.svg"), "--out", "")
	want(t, "exit code of a file that cannot be written", code, exitBadInput)
	wantIn(t, problems, "none.svg")
}

// A Go test is printed of a case, and of what a run has violated first.
func TestGoTestOfAReplay(t *testing.T) {
	code, out, _ := command(t, "replay", "--go", "--package", "mine_test", keptCase)
	want(t, "exit code", code, exitAsExpected)
	wantIn(t, out, "package mine_test\n", "func TestLeaseExclusionOfCrashRestart(t *testing.T) {", "replay: v1.crash-restart.1.")

	dir := t.TempDir()
	command(t, "run", "pause-then-write", "--out", dir)
	code, out, _ = command(t, "replay", "--go", filepath.Join(dir, "pause-then-write-sim-1"))
	want(t, "exit code", code, exitAsExpected)
	wantIn(t, out, "package lockstorm_test\n", "func TestSectionExclusionOfPauseThenWrite(t *testing.T) {")

	code, _, problems := command(t, "replay", "--go", runner.Replay{Scenario: "calm", Seed: 1, Trace: 1}.String())
	want(t, "exit code of another run", code, exitBadInput)
	wantIn(t, problems, "calm: not the same run: its trace is ")

	command(t, "run", "calm", "--out", dir)
	code, _, problems = command(t, "replay", "--go", filepath.Join(dir, "calm-sim-1"))
	want(t, "exit code of a run that violates nothing", code, exitBadInput)
	wantIn(t, problems, "the run violates no property that a test could check")
}

// --inevitable says where the violation became inevitable, and what each fault has to do with it.
func TestReplayInevitable(t *testing.T) {
	dir := t.TempDir()
	_, _, _ = command(t, "run", "crash-restart", "--out", dir)
	_, _, _ = command(t, "run", "calm", "--out", dir)
	run, calm := filepath.Join(dir, "crash-restart-sim-1"), filepath.Join(dir, "calm-sim-1")
	page := filepath.Join(dir, "page.html")
	code, out, problems := command(t, "replay", run, "--inevitable", "--futures", "20", "--out", "", "--report", page)
	want(t, "exit code", code, exitAsExpected)
	want(t, "on stderr", problems, "report: "+page+"\n")
	html, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	wantIn(t, string(html), "The point of no return: lease exclusion", `<figure id="inevitable">`, `<a href="#find-V1"><circle`, "without fault")
	wantIn(t, out, "How the violation of lease exclusion became inevitable (20 futures from each of ",
		"Point of no return: fault 2 begins: node 3 crashes, at 21.5ms.", "The checker names the same cause.",
		"2: node 3 crashes, 20ms after client 1 comes to granted, and that is over at once  0 %       100 %    necessary", "the same run: its trace is")
	code, _, _ = command(t, "replay", "../../testdata/cases/redlock-lease-crash-restart.yaml", "--inevitable", "--futures", "20", "--out", "", "--report", page)
	want(t, "exit code", code, exitAsExpected)
	if html, err = os.ReadFile(page); err != nil {
		t.Fatal(err)
	}
	wantIn(t, string(html), "The point of no return: lease exclusion")
	for says, args := range map[string][]string{
		"--futures 0: want 1 to 1000000":      {run, "--inevitable", "--futures", "0"},
		"--futures needs --inevitable":        {run, "--futures", "5"},
		"the run does not violate lease: it ": {calm, "--inevitable", "--out", ""},
	} {
		code, _, problems := command(t, append([]string{"replay"}, args...)...)
		want(t, "exit code", code, exitBadInput)
		wantIn(t, problems, says)
	}
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
	wantIn(t, out, "the same run: its trace is ")
	html, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	wantIn(t, string(html), "Message by message")
	code, out, _ = command(t, "replay", filepath.Join(dir, "crash-restart-sim-1"), "--out", "")
	want(t, "exit code", code, exitAsExpected)
	wantIn(t, out, "the same run: its trace is ")
}
