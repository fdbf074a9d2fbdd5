package cli

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
	wantFailureFiles(t, filepath.Join(dir, "kept", "tests"))
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

// A lock that is never granted is a contradiction, and a storm that has judged nothing is undecided. What
// a test has tried and what not is said of it, though it passes or is skipped.
func TestCIOfTestsThatJudgeNothing(t *testing.T) {
	t.Setenv("LOCKS_DIR", t.TempDir())
	for tests, wanted := range map[string]struct {
		code int
		said []string
	}{
		"./testdata/barren":   {exitContradiction, []string{"tests: 1 contradiction", "TestRefused/calm, contradiction\nnobody was granted the lock in 1 run: 9 calls of Lock failed, the last one with: taken"}},
		"./testdata/unjudged": {exitUndecided, []string{"tests: 1 undecided", "TestUnjudged/calm, undecided\nno run could violate what is promised", "  ./testdata/unjudged TestUnjudged: ", " of 1 storm; not exercised: extensions, holds beyond the TTL, notices of a loss, generated faults; undecided: calm\n"}},
	} {
		code, out, problems := command(t, "ci", "--suites", "tests", "--tests", tests, "--out", filepath.Join(t.TempDir(), "kept"))
		want(t, "exit code", code, wanted.code)
		want(t, "problems", problems, "")
		wantIn(t, out, wanted.said...)
	}
}

// wantFailureFiles compares the commands in the files about failures with where the files are.
func wantFailureFiles(t *testing.T, dir string) {
	t.Helper()
	kept, err := filepath.Glob(filepath.Join(dir, "*", "failure.txt"))
	if err != nil || len(kept) != 2 {
		t.Fatalf("files about failures: %q, %v", kept, err)
	}
	for _, file := range kept {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		wantIn(t, string(text), "\tgo test -C ./testdata/locks -v -run '^TestLock$/", " -locktest.witness="+filepath.Dir(file)+"\n", "\tlockstorm report .\n")
		if strings.Contains(string(text), os.Getenv("LOCKS_DIR")) {
			t.Errorf("%s names where the run was before:\n%s", file, text)
		}
	}
}

// Law: a run whose plan was shrunk is copied with the run of the whole plan, and names that.
func TestRunOfTheWholePlanIsCopied(t *testing.T) {
	t.Chdir(t.TempDir())
	const again = "\nTo run it again, in the directory of the test:\n\n\tgo test -v -run 'x' -locktest.witness=testdata/locktest/TestLock/%\n"
	texts := map[string]string{
		"drawn-memory-2":        "whole\n" + strings.Replace(again, "%", "drawn-memory-2", 1),
		"drawn-memory-2-shrunk": "shrunk\nThe run of the whole plan is stored in ../drawn-memory-2.\n" + strings.Replace(again, "%", "drawn-memory-2-shrunk", 1),
	}
	from := filepath.Join("orders", "testdata", "locktest", "TestLock")
	for name, text := range texts {
		if err := os.MkdirAll(filepath.Join(from, name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(from, name, "failure.txt"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	o := ciOptions{out: "kept"}
	if _, err := o.copyRun(gotool.Test{Package: gotool.Package{Dir: filepath.Join(here, "orders")}, Name: "TestLock/drawn"}, filepath.Join(from, "drawn-memory-2-shrunk")); err != nil {
		t.Fatal(err)
	}
	for name, said := range map[string]string{"orders-TestLock-drawn-memory-2": "whole\n", "orders-TestLock-drawn-memory-2-shrunk": "stored in ../orders-TestLock-drawn-memory-2.\n"} {
		text, err := os.ReadFile(filepath.Join("kept", "tests", name, "failure.txt"))
		if err != nil {
			t.Fatal(err)
		}
		wantIn(t, string(text), said, "-locktest.witness=../kept/tests/"+name+"\n")
		if strings.Contains(string(text), "testdata/locktest") {
			t.Errorf("%s:\n%s", name, text)
		}
	}
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
	wantIn(t, problems, "./testdata/broken does not build: ", "undefined: locktest.NoSuchThing")
	if strings.Contains(problems, "FAIL") || strings.Contains(problems, "# ") {
		t.Errorf("go test's own lines are repeated: %q", problems)
	}
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
