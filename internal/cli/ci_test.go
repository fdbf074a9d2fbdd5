package cli

import (
	"context"
	"encoding/xml"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/jstemmer/go-junit-report/v2/junit"

	"github.com/lockstorm/lockstorm/internal/show/ci"
)

// savedCaseHere copies a case of the project into testdata/cases, changed, and returns its
// path.
func savedCaseHere(t *testing.T, old, replaced string) string {
	t.Helper()
	const name = "redlock-lease-crash-restart.yaml"
	path := filepath.Join("testdata", "cases", name)
	write(t, path, strings.Replace(read(t, filepath.Join(sources, path)), old, replaced, 1))
	return path
}

// tooSoon is delayed-restart with a delay that does not suffice, which it should.
func tooSoon(t *testing.T) string {
	t.Helper()
	write(t, "too-soon.yaml", scenarioText(t, "delayed-restart", "after: 1.1s", "after: 600ms"))
	return "too-soon.yaml"
}

// readJUnit returns the test cases of a JUnit file by suite and name.
func readJUnit(t *testing.T, path string) map[string]junit.Testcase {
	t.Helper()
	var all junit.Testsuites
	if err := xml.Unmarshal([]byte(read(t, path)), &all); err != nil {
		t.Fatal(err)
	}
	byName := map[string]junit.Testcase{}
	for _, c := range all.Suites[0].Testcases {
		byName[strings.TrimPrefix(c.Classname, "lockstorm.")+" "+c.Name] = c
	}
	return byName
}

// resultOf returns the outcome of a check in a JUnit file, and what is said of it.
func resultOf(c junit.Testcase) (ci.Outcome, *junit.Result) {
	for _, r := range []*junit.Result{c.Failure, c.Error, c.Skipped} {
		if r != nil {
			return ci.Outcome(r.Type), r
		}
	}
	return ci.AsExpected, nil
}

// wantOutcomes compares the outcomes of all checks.
func wantOutcomes(t *testing.T, wanted map[string]ci.Outcome) map[string]junit.Testcase {
	t.Helper()
	got := readJUnit(t, "junit.xml")
	for name, c := range got {
		if o, _ := resultOf(c); o != wanted[name] {
			t.Errorf("%s: %v, want %q", name, o, wanted[name])
		}
	}
	for name := range wanted {
		if _, ok := got[name]; !ok {
			t.Errorf("%s is not listed", name)
		}
	}
	return got
}

// With correct locks ci is green, and writes only the requested files.
func TestCIIsGreen(t *testing.T) {
	elsewhere(t)
	path := savedCaseHere(t, "", "")
	code, _, problems := command(t, "ci", "--suite", "explore,cases", "calm", "crash-restart", "--runs", "10", "--junit", "junit.xml")
	want(t, "exit code", code, exitAsExpected)
	want(t, "on stderr", problems, "")
	wantOutcomes(t, map[string]ci.Outcome{
		"cases " + path: ci.AsExpected, "debate calm": ci.AsExpected, "debate crash-restart": ci.AsExpected,
		"explore calm": ci.AsExpected, "explore crash-restart": ci.AsExpected,
	})
	for _, budget := range []string{"1s", "10s"} { // the hunt takes all of the time, and a busy machine needs more of it
		if code, _, _ = command(t, "ci", "--suite", "hunt", "--budget", budget, "--junit", "junit.xml"); code == exitAsExpected {
			break
		}
	}
	wantOutcomes(t, map[string]ci.Outcome{"hunt redlock": ci.AsExpected})
	left, err := os.ReadDir(".")
	if err != nil || len(left) != 2 {
		t.Errorf("%v, %v: want the JUnit file beside the cases", left, err)
	}
}

// Law: whatever is red has the command that repeats it.
func TestCIFailuresAreRepeated(t *testing.T) {
	elsewhere(t)
	path, file := savedCaseHere(t, "shows: violated", "shows: holds"), tooSoon(t)
	code, _, problems := command(t, "ci", path, file, "calm", "--suite", "explore", "--runs", "3", "--junit", "junit.xml")
	want(t, "exit code", code, exitContradiction)
	want(t, "on stderr", problems, "")
	got := wantOutcomes(t, map[string]ci.Outcome{
		"cases " + path: ci.Contradiction, "debate " + file: ci.Contradiction, "explore " + file: ci.Contradiction,
		"debate calm": ci.AsExpected, "explore calm": ci.AsExpected,
	})
	for name, c := range got {
		if c.Failure == nil {
			continue
		}
		_, again, _ := strings.Cut(c.Failure.Data, "Again: ")
		cmd := exec.CommandContext(t.Context(), "sh", "-c", strings.Replace(again, "lockstorm ", os.Args[0]+" ", 1))
		cmd.Env = append(os.Environ(), asCommand+"=1")
		if out, err := cmd.CombinedOutput(); cmd.ProcessState.ExitCode() != exitContradiction {
			t.Errorf("%s: %s: %v\n%s", name, again, err, out)
		}
	}
}

// A check that was not run for lack of time is listed in every file, and does not count as passed.
func TestCIOutOfTime(t *testing.T) {
	elsewhere(t)
	path := savedCaseHere(t, "", "")
	t.Setenv("GITHUB_ACTIONS", "true")
	write(t, "summary.md", "before\n")
	code, out, _ := command(t, "ci", "--suite", "cases,hunt", "calm", "--budget", "1ns", "--junit", "junit.xml", "--summary", "summary.md")
	want(t, "exit code", code, exitUndecided)
	got := wantOutcomes(t, map[string]ci.Outcome{"cases " + path: ci.NotRun, "debate calm": ci.NotRun, "hunt redlock": ci.NotRun})
	const why = "the budget of 1ns is used up: raise --budget"
	want(t, "the reason", got["debate calm"].Skipped.Message, why)
	wantIn(t, out, "::warning title=lockstorm::3 checks not run: "+why)
	wantIn(t, read(t, "summary.md"), "before\n## Lockstorm: undecided: 3 not run", "| debate | calm | not run | "+why+" |")
}

// Ctrl-C leaves a whole report: of what was checked, of what was cut short, and of what was not run.
func TestCIIsStopped(t *testing.T) {
	elsewhere(t)
	path := savedCaseHere(t, "", "")
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	out := writerFunc(func(text []byte) (int, error) {
		if strings.HasPrefix(string(text), "cases: ") {
			time.AfterFunc(100*time.Millisecond, stop) // within the debate
		}
		return len(text), nil
	})
	code := execute(ctx, []string{"ci", "--suite", "cases,hunt", "calm", "crash-restart", "--runs", "1000000", "--junit", "junit.xml"}, strings.NewReader(""), out, io.Discard)
	want(t, "exit code", code, exitUndecided)
	got := wantOutcomes(t, map[string]ci.Outcome{
		"cases " + path: ci.AsExpected, "debate calm": ci.Undecided, "debate crash-restart": ci.NotRun, "hunt redlock": ci.NotRun,
	})
	want(t, "the reason", got["debate calm"].Error.Message, "interrupted")
}

// Law: without arguments ci runs what is the user's, and with arguments what they name.
func TestSuitesOfCI(t *testing.T) {
	elsewhere(t)
	path := savedCaseHere(t, "", "")
	for args, wanted := range map[string]map[string]ci.Outcome{
		"":                       {"cases " + path: ci.AsExpected},
		"calm":                   {"debate calm": ci.AsExpected},
		"--suite explore calm":   {"debate calm": ci.AsExpected, "explore calm": ci.AsExpected},
		path + " calm --runs 10": {"cases " + path: ci.AsExpected, "debate calm": ci.AsExpected},
	} {
		code, out, _ := command(t, append([]string{"ci", "--junit", "junit.xml"}, strings.Fields(args)...)...)
		want(t, args+": exit code", code, exitAsExpected)
		wantOutcomes(t, wanted)
		want(t, args+": that no test was run is said", strings.Contains(out, "None of your tests was run: "), args == "")
	}
}

// ci runs the user's tests, and stores the runs of failures.
func TestCIRunsTheUsersTests(t *testing.T) {
	here, dir := filepath.Join(sources, "internal/cli"), t.TempDir()
	t.Setenv("GITHUB_ACTIONS", "true")
	t.Setenv("GITHUB_WORKSPACE", filepath.Dir(here))
	code, out, problems := command(t, "ci", "./testdata/locks", "--junit", filepath.Join(dir, "junit.xml"), "--out", filepath.Join(dir, "kept"))
	want(t, "exit code", code, exitContradiction)
	want(t, "problems", problems, "")
	wantIn(t, out, "\n::error file=cli/testdata/locks/lock_test.go,title=lockstorm tests ./testdata/locks TestLock/holder-stands-still::",
		"\n./testdata/locks TestUnjudged: ") // what was tried, and what not
	t.Chdir(dir)
	got := wantOutcomes(t, map[string]ci.Outcome{
		"tests ./testdata/locks TestOrdinary": ci.AsExpected, "tests ./testdata/locks TestSkipped": ci.NotApplicable,
		"tests ./testdata/locks TestLock/contention": ci.AsExpected, "tests ./testdata/locks TestLimit/holder-stands-still": ci.AsExpected,
		"tests ./testdata/locks TestLock/holder-stands-still": ci.Contradiction, "tests ./testdata/locks TestLock/holder-stands-still-again": ci.Contradiction,
		"tests ./testdata/locks TestRefused/calm": ci.Contradiction, "tests ./testdata/locks TestUnjudged/calm": ci.Undecided,
	})
	for name, reason := range map[string]string{
		"locks TestLock/holder-stands-still":       ` is violated, by the lock TestLock, seed 1`,
		"locks TestLock/holder-stands-still-again": `, as in storm holder-stands-still$`,
		"locks TestRefused/calm":                   `^nobody was granted the lock in 1 run: 9 calls of Lock failed, the last one with: taken$`,
		"locks TestUnjudged/calm":                  `^no run could violate what is promised$`,
	} {
		_, r := resultOf(got["tests ./testdata/"+name])
		wantMatch(t, r.Message, reason)
	}
	wantIn(t, got["tests ./testdata/locks TestSkipped"].Skipped.Data, "not today")
	wantMatch(t, got["tests ./testdata/locks TestLimit/holder-stands-still"].SystemOut.Data, "violated in 1/1 runs, which no promise covers")
	story := got["tests ./testdata/locks TestLock/holder-stands-still"].Failure.Data
	wantIn(t, story, "\nIt recurs in 2 of 2 re-runs")
	_, again, _ := strings.Cut(story, "\nAgain: ")
	again, _, _ = strings.Cut(again, "\n")
	t.Chdir(here)
	text, err := exec.CommandContext(t.Context(), "sh", "-c", again+" -locktest.reruns=2").CombinedOutput()
	if err == nil {
		t.Errorf("%s: passed, and should have failed", again)
	}
	wantIn(t, string(text), "was violated, and recurs in 2 of 2 re-runs")
}

// Tests that do not compile are an error, and not a broken lock.
func TestCIOfTestsThatDoNotCompile(t *testing.T) {
	code, _, problems := command(t, "ci", "./testdata/broken", "--out", t.TempDir())
	want(t, "exit code", code, exitBadInput)
	wantIn(t, problems, "./testdata/broken: could not be tested: ", "undefined: locktest.NoSuchThing")
}

// The package of the current directory has its name for go test.
func TestThePackageHere(t *testing.T) {
	t.Chdir("testdata/locks")
	dirs, err := testsOf(t.Context(), []string{"."})
	want(t, "packages", fmt.Sprint(dirs, err), "map[github.com/lockstorm/lockstorm/internal/cli/testdata/locks:.] <nil>")
}

// A test that passes beside one that fails or panics is told apart; one that the end of the budget finds at
// work is not run.
func TestCIOfOrdinaryTests(t *testing.T) {
	elsewhere(t)
	r := ciRun{budget: time.Minute, dir: "kept", began: time.Now(), tests: map[string]string{"example.com/m": "."}}
	write(t, "go.mod", "module example.com/m\n\ngo 1.26\n")
	write(t, "m_test.go", `package m

import (
	"flag"
	"testing"
	"time"
)

var _ = flag.String("locktest.dir", "", "")

func TestSlow(t *testing.T) { // has begun before the others
	t.Parallel()
	time.Sleep(time.Hour)
}

func TestGood(t *testing.T) {}

func TestBad(t *testing.T) {
	t.Run("sub", func(t *testing.T) { t.Error("one\ntwo") })
	t.Run("other", func(t *testing.T) {})
}

func TestParent(t *testing.T) {
	t.Run("sub", func(t *testing.T) {})
	t.Error("outside")
}

`)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	r.out = writerFunc(func(text []byte) (int, error) {
		if strings.Contains(string(text), "TestParent: ") {
			stop()
		}
		return len(text), nil
	})
	r.runTests(ctx, 1)
	var got []string
	for _, c := range r.report.Checks {
		got = append(got, fmt.Sprintf("%s: %v: %s: %q: %s", c.Name, c.Outcome, c.Summary, c.Story, c.File))
	}
	want(t, "checks", regexp.MustCompile(`\(0\.\d\ds\)`).ReplaceAllString(strings.Join(got, "\n"), "(0.00s)"), `. TestGood: as expected: : "=== RUN   TestGood\n--- PASS: TestGood (0.00s)\n": 
. TestBad/sub: contradiction: : "=== RUN   TestBad/sub\n    m_test.go:19: one\n        two\n--- FAIL: TestBad/sub (0.00s)\n": 
. TestBad/other: as expected: : "=== RUN   TestBad/other\n--- PASS: TestBad/other (0.00s)\n": 
. TestParent/sub: as expected: : "=== RUN   TestParent/sub\n--- PASS: TestParent/sub (0.00s)\n": 
. TestParent: contradiction: : "=== RUN   TestParent\n    m_test.go:25: outside\n--- FAIL: TestParent (0.00s)\n": 
. TestSlow: not run: interrupted: "": `)
}
