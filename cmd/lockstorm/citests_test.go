package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/lockstorm/lockstorm/internal/gotool"
)

// ci runs the user's tests, stores their failures, and names what was tested.
func TestCIRunsTheUsersTests(t *testing.T) {
	t.Setenv("LOCKS_DIR", t.TempDir())
	dir := t.TempDir()
	report := filepath.Join(dir, "junit.xml")
	kept := filepath.Join(dir, "kept", "tests", "testdata-locks-TestLock-holder-stands-still")
	code, out, problems := command(t, "ci", "--suites", "tests,debate", "--tests", "./testdata/locks", "--rows", "calm", "--runs", "2",
		"--junit", report, "--out", filepath.Join(dir, "kept"), "--summary", filepath.Join(dir, "summary.md"), "--annotations")
	want(t, "exit code", code, exitContradiction)
	want(t, "problems", problems, "")
	if first, _, _ := strings.Cut(out, "\n"); first != "tested: your code (the tests in ./testdata/locks) and Lockstorm's own locks (redlock)" {
		t.Errorf("the first line is %q", first)
	}
	wantIn(t, out, "tests: 3 as expected, 2 contradiction, 1 nothing to judge", "go test; 1 as expected with limits",
		"Again: go test -C ./testdata/locks -v -run '^TestLock$/^holder-stands-still$' -locktest.witness="+kept, "\nPage:  lockstorm report "+kept, "\nIt recurs in 2 of 2 re-runs",
		"::error file=testdata/locks/lock_test.go,title=lockstorm tests%3A ./testdata/locks TestLock/holder-stands-still::")
	if !regexp.MustCompile(`\ntests: ./testdata/locks TestLock/holder-stands-still-again, contradiction\n.* is violated, .*, as in ./testdata/locks TestLock/holder-stands-still; kept in ` + regexp.QuoteMeta(kept) + `-again\S*\n\n`).MatchString(out) {
		t.Errorf("the storm that fails like another one takes more than two lines:\n%s", out)
	}
	wantRepeated(t, out)
	all, byName := readJUnit(t, report)
	want(t, "failures", all.Failures, 2)
	want(t, "property", (*all.Suites[0].Properties)[0].Value, "your code (the tests in ./testdata/locks) and Lockstorm's own locks (redlock)")
	failed := byName["./testdata/locks TestLock/holder-stands-still"].Failure
	wantIn(t, failed.Message, "is violated, by the lock TestLock, seed 1")
	wantKept(t, failed.Data)
	want(t, "skipped", byName["./testdata/locks TestSkipped"].Skipped.Message, "skipped: not today")
	if out := byName["./testdata/locks TestLimit/holder-stands-still"].SystemOut; out == nil || !strings.Contains(out.Data, "limit: ") {
		t.Errorf("JUnit does not name the limit: %+v", out)
	}
	for _, passed := range []string{"./testdata/locks TestOrdinary", "./testdata/locks TestLock/contention"} {
		if c, ok := byName[passed]; !ok || c.Failure != nil || c.Skipped != nil {
			t.Errorf("%s did not pass: %+v", passed, c)
		}
	}
	summary, err := os.ReadFile(filepath.Join(dir, "summary.md"))
	if err != nil {
		t.Fatal(err)
	}
	wantIn(t, string(summary), "Tested: your code (the tests in ./testdata/locks) and Lockstorm's own locks (redlock).\n")
}

// wantRepeated runs the first command that repeats a failure.
func wantRepeated(t *testing.T, out string) {
	t.Helper()
	_, again, _ := strings.Cut(out, "\nAgain: ")
	again, _, _ = strings.Cut(again, "\n")
	text, err := exec.CommandContext(t.Context(), "sh", "-c", again+" -locktest.reruns=2").CombinedOutput()
	if err == nil {
		t.Errorf("%s: passed, and should have failed", again)
	}
	wantIn(t, string(text), "was violated, and recurs in 2 of 2 re-runs")
}

// The command names a run by its path from the directory of the test.
func TestWitnessCommand(t *testing.T) {
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	test := gotool.Test{Package: gotool.Package{Dir: filepath.Join(here, "testdata", "locks")}, Name: "TestLock/one"}
	want(t, "command", witnessCommand(test, "kept/tests/one-memory-1"),
		"go test -C ./testdata/locks -v -run '^TestLock$/^one$' -locktest.witness=../../kept/tests/one-memory-1")
}

// Tests that do not compile are an error, and not a broken lock.
func TestCIOfTestsThatDoNotCompile(t *testing.T) {
	code, out, problems := command(t, "ci", "--suites", "tests", "--tests", "./testdata/broken", "--out", filepath.Join(t.TempDir(), "kept"))
	want(t, "exit code", code, exitBadInput)
	wantIn(t, problems, "./testdata/broken: ", "undefined: locktest.NoSuchThing")
	wantIn(t, out, "ci: undecided")
}

// Without tests of the user, the first line says that no code of theirs was run.
func TestCIWithoutTheUsersCode(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("go.mod", []byte("module example.com/mine\n\ngo 1.26\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("mine_test.go", []byte("package mine\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for args, first := range map[string]string{
		"--suites tests,debate": "tested: Lockstorm's own locks (redlock); your code was not run: no test in ./... uses locktest\n",
		"--suites debate":       "tested: Lockstorm's own locks (redlock); your code was not run: --suites leaves out tests\n",
	} {
		code, out, _ := command(t, append([]string{"ci", "--rows", "calm", "--runs", "2"}, strings.Fields(args)...)...)
		want(t, args+": exit code", code, exitAsExpected)
		if !strings.HasPrefix(out, first) {
			t.Errorf("%s: want the first line %q in:\n%s", args, first, out)
		}
	}
	code, _, _ := command(t, "ci", "--suites", "debate", "--rows", "calm", "--runs", "2", "--seed", "7")
	want(t, "exit code with a seed for no hunt", code, exitAsExpected)
	code, _, problems := command(t, "ci", "--tests", "./...")
	want(t, "exit code", code, exitBadInput)
	wantIn(t, problems, "--tests: no test in ./... uses locktest")
	code, _, problems = command(t, "ci", "--suites", "debate", "--tests", ".")
	want(t, "exit code", code, exitBadInput)
	wantIn(t, problems, "--tests applies to the suite tests, which --suites leaves out")
	code, _, problems = command(t, "ci", "--lock", "redsync")
	want(t, "exit code", code, exitBadInput)
	wantIn(t, problems, `--lock: unknown lock "redsync"`, "Test a lock of your own with package locktest: docs/test-your-lock.md")
}

// To check nothing is an error, and the first line says why.
func TestCIOfNothing(t *testing.T) {
	t.Chdir(t.TempDir())
	code, out, problems := command(t, "ci", "--suites", "tests,cases")
	want(t, "exit code", code, exitBadInput)
	if first, _, _ := strings.Cut(out, "\n"); first != "tested: nothing; your code was not run: no Go module here (no go.mod)" {
		t.Errorf("the first line is %q", first)
	}
	wantIn(t, problems, "nothing was checked")
}

// Directories of tests are relative to the current one.
func TestShortDir(t *testing.T) {
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for dir, short := range map[string]string{here: ".", filepath.Join(here, "testdata", "locks"): "./testdata/locks", filepath.Dir(here): "./.."} {
		want(t, dir, shortDir(dir), short)
	}
}
