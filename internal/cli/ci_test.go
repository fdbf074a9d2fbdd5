package cli

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jstemmer/go-junit-report/v2/junit"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/fuzz"
	"github.com/lockstorm/lockstorm/internal/report/ci"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/results/cases"
	"github.com/lockstorm/lockstorm/scenarios"
)

// elsewhere goes into an empty directory, where no CI system is.
func elsewhere(t *testing.T) {
	t.Helper()
	t.Setenv(onGitHub, "")
	t.Setenv(gitHubSummary, "")
	t.Chdir(t.TempDir())
}

// savedCaseHere copies a case of the project into testdata/cases, changed, and returns its
// path.
func savedCaseHere(t *testing.T, old, replaced string) string {
	t.Helper()
	const name = "redlock-lease-crash-restart.yaml"
	path := filepath.Join(usualCases, name)
	text, err := os.ReadFile(filepath.Join(sources, "testdata", "cases", name))
	if err != nil {
		t.Fatal(err)
	}
	changed := strings.Replace(string(text), old, replaced, 1)
	if old != replaced && changed == string(text) {
		t.Fatalf("no %q in the case", old)
	}
	write(t, path, changed)
	return path
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// sources is the directory of the project, wherever a test is.
var sources = func() string {
	dir, err := filepath.Abs("../..")
	if err != nil {
		panic(err)
	}
	return dir
}()

// tooSoon is delayed-restart with a delay that does not suffice, which it should.
func tooSoon(t *testing.T) string {
	t.Helper()
	_, text, _ := command(t, "show", "delayed-restart")
	write(t, "too-soon.yaml", strings.Replace(text, "after: 1.1s", "after: 600ms", 1))
	return "too-soon.yaml"
}

// readJUnit reads a JUnit file, and returns its cases by their names.
func readJUnit(t *testing.T, path string) (junit.Testsuites, map[string]junit.Testcase) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var all junit.Testsuites
	if err := xml.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	byName := map[string]junit.Testcase{}
	for _, s := range all.Suites {
		for _, c := range s.Testcases {
			byName[c.Name] = c
		}
	}
	return all, byName
}

// With a correct lock ci is green, and writes only the requested files.
func TestCIIsGreen(t *testing.T) {
	elsewhere(t)
	savedCaseHere(t, "", "")
	code, out, problems := command(t, "ci", "--suites", strings.Join(allSuites, ","), "--rows", "calm,crash-restart,single-vs-redlock", "--runs", "10", "--hunt-runs", "200", "--budget", "1h", "--junit", "junit.xml")
	want(t, "exit code", code, exitAsExpected)
	want(t, "on stderr", problems, "")
	wantMatch(t, out, `^tested: Lockstorm's own locks \(redlock and 1 other kind\); your code was not run: no Go module here \(no go\.mod\)\n\ncases: 1 as expected \(\d+\.\d\d s\)\ndebate: 4 as expected \([\d.]+ s\)\n  backend sim\nexplore: 2 as expected \([\d.]+ s\)\n  every run of the smallest worlds, as in explore --quick\nhunt: \d as expected(, \d nothing to judge)? \([\d.]+ s\)\n  hunt-redlock: nothing violated \(200 runs, `)
	wantMatch(t, out, `\nci: as expected \(15 checks, [\d.]+ s\)\n$`)
	all, byName := readJUnit(t, "junit.xml")
	want(t, "tests", all.Tests, 15)
	want(t, "failures and errors", all.Failures+all.Errors, 0)
	wantMatch(t, byName["crash-restart"].SystemOut.Data, "^"+verdictsLike("V1✗ V2✗ V3✗ V4· L1✓")+" in 10 runs$")
	wantMatch(t, byName["V1 lease exclusion"].SystemOut.Data, `^[1-9]\d* runs exercised it$`)
	for _, s := range all.Suites {
		wantIn(t, (*s.Properties)[1].Value, "budget 1h, seed of the hunt 1")
	}
	left, err := os.ReadDir(".")
	if err != nil || len(left) != 2 {
		t.Errorf("%v, %v: want the JUnit file beside the cases", left, err)
	}
}

// Law: whatever is red has the one command that repeats it, and what that shows is the same:
// a row, a case, a find of the hunt.
func TestCIFailuresAreRepeated(t *testing.T) {
	elsewhere(t)
	path := savedCaseHere(t, "shows: violated", "shows: holds")
	file := tooSoon(t)
	code, out, problems := command(t, "ci", "--suites", strings.Join(allSuites, ","), "--rows", "calm,"+file, "--runs", "3", "--assume", "", "--hunt-runs", "100", "--budget", "1h", "--junit", "junit.xml", "--summary", "summary.md", "--annotations")
	want(t, "exit code", code, exitContradiction)
	want(t, "on stderr", problems, "")
	all, byName := readJUnit(t, "junit.xml")
	for name, again := range map[string]string{
		filepath.Base(path): "lockstorm replay " + path,
		file:                "lockstorm run " + file + " --seed 1",
	} {
		if f := byName[name].Failure; f == nil || !strings.HasSuffix(f.Message, ". Again: "+again) {
			t.Errorf("%s: %+v, want %s", name, f, again)
		}
	}
	summary, err := os.ReadFile("summary.md")
	if err != nil {
		t.Fatal(err)
	}
	want(t, "diagrams: of the first failure alone", strings.Count(string(summary), "\n```mermaid\nsequenceDiagram\n"), 1)
	wantIn(t, string(summary), "BOTH HOLD", "\n### cases: all checks\n", "\n### debate: all checks\n")
	repeated := 0
	for _, c := range byName {
		if c.Failure == nil {
			continue
		}
		repeated++
		_, again, _ := strings.Cut(c.Failure.Message, "Again: lockstorm ")
		explored := strings.HasPrefix(again, "replay v4.") // whose runs are not stored
		args := append(strings.Fields(again), "--out", t.TempDir())
		code, said, _ := command(t, args...)
		wantCode := exitContradiction
		if strings.Contains(again, "counterexamples") { // a find shows what its case says
			wantCode = exitAsExpected
		}
		want(t, again+": exit code", code, wantCode)
		wantIn(t, said, "violated")
		for _, page := range []string{out, string(summary)} {
			wantIn(t, page, c.Name, "Again: lockstorm "+again+"\n")
		}
		wantIn(t, out, "%0A%0AAgain: lockstorm "+again)
		if !explored {
			wantKept(t, c.Failure.Data)
		}
	}
	if repeated != all.Failures || repeated < 4 {
		t.Errorf("%d of %d are repeated: want a case, a row, an exploration and a find at least", repeated, all.Failures)
	}
	wantIn(t, byName[file].Failure.Message, "lease exclusion, section exclusion, effect exclusion: violated, but holds is expected (seed 1).")
	wantIn(t, byName[file].Failure.Data, "  node 3 crashes at 21.48ms and is back without its keys at 621.5ms;\n", "\n  A limit: fault 2: node 3 can return")
	wantIn(t, byName[filepath.Base(path)].Failure.Message, "lease exclusion is violated, but the case says holds.")
	wantIn(t, out, "\n::error file="+file+",title=lockstorm debate%3A "+file+"::lease exclusion, ")
}

// wantKept wants a failure to name its stored files, and these to exist.
func wantKept(t *testing.T, text string) {
	t.Helper()
	_, list, _ := strings.Cut(text, "\nKept: ")
	paths := strings.Fields(list)
	histories := 0
	for _, p := range paths {
		if _, err := os.Stat(p); err != nil {
			t.Errorf("%s is kept, but: %v", p, err)
		}
		if _, err := os.Stat(filepath.Join(p, "history.jsonl")); err == nil {
			histories++
		}
	}
	if histories != 1 || !strings.Contains(list, "counterexample-") {
		t.Errorf("kept are %q: want a run with its history and a picture", paths)
	}
}

// A check that was not run for lack of time is listed in every file, and does not count as passed.
func TestCIOutOfTime(t *testing.T) {
	elsewhere(t)
	savedCaseHere(t, "", "")
	code, out, _ := command(t, "ci", "--suites", strings.Join(allSuites, ","), "--rows", "calm,crash-restart", "--runs", "3", "--budget", "1ns", "--junit", "junit.xml", "--summary", "summary.md", "--annotations")
	want(t, "exit code", code, exitUndecided)
	const early = "the budget of 1ns is used up: raise --budget"
	const why = early + " or lower --runs"
	wantIn(t, out, "cases: 1 check, not run: "+early+"\n", "debate: 2 checks, not run: "+why, "hunt: 8 checks, not run: "+why,
		"::warning title=lockstorm debate::2 checks not run: "+why, "\nci: undecided (13 checks, ")
	all, byName := readJUnit(t, "junit.xml")
	want(t, "skipped", all.Skipped, 13)
	want(t, "skipped of", all.Tests, 13)
	want(t, "the row's message", byName["crash-restart"].Skipped.Message, why+". Again: lockstorm run crash-restart --runs 3")
	summary, err := os.ReadFile("summary.md")
	if err != nil {
		t.Fatal(err)
	}
	wantIn(t, string(summary), "## Lockstorm: undecided\n", why+": calm, crash-restart\n")

	_, out, _ = command(t, "ci", "--suites", "hunt", "--budget", "1ns") // which has no --runs
	wantIn(t, out, "hunt: 8 checks, not run: "+early+"\n")
}

// stoppedAt is the simulator, which calls stop before it opens the n-th world.
func stoppedAt(n int32, stop func()) runner.Backend {
	b := backends[0].Backend
	open := b.Open
	var opened atomic.Int32
	b.Open = func(c context.Context, s nemesis.Setting, seed uint64, sink history.Sink) (runner.World, error) {
		if opened.Add(1) == n {
			stop()
		}
		return open(c, s, seed, sink)
	}
	return b
}

// After Ctrl-C the results so far are printed and written, checks that were not run are listed, and
// finds are kept.
func TestCIIsStopped(t *testing.T) {
	elsewhere(t)
	file := tooSoon(t)
	for _, c := range []struct {
		rows []string
		want int
	}{{[]string{"crash-restart", "calm"}, exitUndecided}, {[]string{file}, exitContradiction}} {
		ctx, stop := context.WithCancel(t.Context())
		o := ciOptions{budget: time.Hour, suites: []string{debateSuite, huntSuite}, rows: c.rows, runs: 1000, out: "kept", junit: "junit.xml"}
		o.hunt = huntOptions{lock: defaultLock, assumed: promisedWord, faults: "all", most: usualMost}
		o.backend = stoppedAt(300, stop)
		stages, err := o.stages(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if err := o.run(ctx, stages, &out, io.Discard); !errors.Is(err, verdictError(c.want)) {
			t.Errorf("%v: %v\n%s", c.rows, err, out.String())
		}
		_, byName := readJUnit(t, "junit.xml")
		want(t, "the hunt", byName["C contract"].Skipped.Message, "interrupted")
		if c.want == exitContradiction {
			wantKept(t, byName[file].Failure.Data)
			continue
		}
		wantMatch(t, byName["calm"].Error.Message, `^run \d+ times of 1000: interrupted\. Again: lockstorm run calm --runs 1000$`)
		want(t, "the row behind it", byName["crash-restart"].Skipped.Message, "interrupted. Again: lockstorm run crash-restart --runs 1000")
		if _, err := os.Stat("kept"); err == nil {
			t.Error("something was kept, though nothing has failed")
		}
	}
}

// The message of a hunt about a property without a find.
func TestCIOfAHuntThatFindsNothing(t *testing.T) {
	tested := fuzz.Results{Counts: fuzz.Counts{Runs: 50, Tested: map[checker.Property]int{checker.Lease: 7}}}
	for says, c := range map[string]struct {
		haul
		most    int
		outcome ci.Outcome
	}{
		"7 runs exercised it":                                      {haul{Results: tested}, 50, ci.AsExpected},
		"7 runs exercised it; then the hunt was stopped":           {haul{Results: tested, stopped: true}, 0, ci.Undecided},
		"7 runs exercised it; 50 of 60 runs before the time limit": {haul{Results: tested}, 60, ci.Undecided},
		"no run exercised this or any other property":              {haul{}, 0, ci.Undecided},
		"not exercised: it is not promised, the runs were outside": {haul{Results: fuzz.Results{Counts: fuzz.Counts{Tested: map[checker.Property]int{checker.Section: 1}}}}, 0, ci.NotApplicable},
	} {
		got := unbroken(ci.Check{}, checker.Lease, search{most: c.most}, c.haul)
		want(t, says, got.Outcome, c.outcome)
		wantMatch(t, got.Summary, "^"+regexp.QuoteMeta(says))
	}
}

// A hunt that is stopped tells what it has found by then.
func TestCIOfAHuntThatIsStopped(t *testing.T) {
	elsewhere(t)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	o := ciOptions{budget: time.Hour, suites: []string{huntSuite}, out: "kept"}
	o.hunt = huntOptions{lock: "single-node", faults: "all", most: usualMost, seed: 1, out: "kept/cases"}
	q, err := o.hunt.search(nil)
	if err != nil {
		t.Fatal(err)
	}
	q.Backend = stoppedAt(300, stop) // by then something is found, but not all
	suite, err := o.hunted(context.WithValue(ctx, patientKey{}, t.Context()), q, deadline{at: time.Now().Add(time.Hour), budget: time.Hour}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	if suite.Count(ci.Contradiction) == 0 || suite.Count(ci.Undecided) == 0 || suite.Count(ci.AsExpected) > 0 {
		t.Errorf("%s: want something found, and the rest undecided", suite.Counts())
	}
	for _, c := range suite.Checks {
		if c.Outcome == ci.Contradiction {
			wantIn(t, c.Story, "shrunk ")
			wantKept(t, c.Text())
		}
	}
}

// If runs cannot be repeated exactly, the failed run is stored as it was, and nothing else.
func TestCIKeepsWhatCannotBeRepeated(t *testing.T) {
	elsewhere(t)
	file := tooSoon(t)
	write(t, "kept/runs/of-yesterday/run.json", "{}")
	o := ciOptions{budget: time.Hour, suites: []string{debateSuite}, rows: []string{"crash-restart", file}, runs: 3, out: "kept", junit: "junit.xml"}
	o.backend = backends[0].Backend
	o.backend.Exact = false
	stages, err := o.stages(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := o.run(t.Context(), stages, &out, io.Discard); !errors.Is(err, verdictError(exitContradiction)) {
		t.Errorf("%v", err)
	}
	_, byName := readJUnit(t, "junit.xml")
	wantKept(t, byName[file].Failure.Data)
	left, err := os.ReadDir(filepath.Join("kept", "runs"))
	if err != nil || len(left) != 2 || left[0].Name() != "delayed-restart-sim-1" {
		t.Errorf("%v, %v: want the one run, beside what was there", left, err)
	}
}

// A row that the backend cannot run is named and does not count. If it can run none, the suite is
// undecided.
func TestCIOnABackendThatCannot(t *testing.T) {
	for rows, wanted := range map[string]error{"calm,aof-always": nil, "aof-always": verdictError(exitUndecided)} {
		elsewhere(t)
		o := ciOptions{budget: time.Hour, suites: []string{debateSuite}, rows: strings.Split(rows, ","), runs: 2, out: "kept", junit: "junit.xml"}
		o.backend = backends[0].Backend
		o.backend.Kinds = []nemesis.Kind{}
		stages, err := o.stages(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if err := o.run(t.Context(), stages, &out, io.Discard); !errors.Is(err, wanted) {
			t.Errorf("%s: %v", rows, err)
		}
		_, byName := readJUnit(t, "junit.xml")
		wantIn(t, byName["aof-always"].Skipped.Message, "the sim backend cannot carry out fault 1 of the plan, a ")
	}
}

// A row that fails to run is an error in the files too, and earlier results are printed.
func TestCITellsOfWhatBreaks(t *testing.T) {
	elsewhere(t)
	o := ciOptions{budget: time.Hour, suites: []string{debateSuite}, rows: []string{"calm"}, runs: 2, out: "kept", junit: "junit.xml"}
	o.backend = backends[0].Backend
	o.backend.Open = func(context.Context, nemesis.Setting, uint64, history.Sink) (runner.World, error) {
		return nil, errors.New("rust")
	}
	stages, err := o.stages(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	err = o.run(t.Context(), stages, io.Discard, io.Discard)
	if err == nil || err.Error() != "debate: calm: rust" {
		t.Errorf("%v", err)
	}
	all, byName := readJUnit(t, "junit.xml")
	want(t, "errors", all.Errors, 1)
	want(t, "skipped", all.Skipped, 1)
	want(t, "the message", byName["debate"].Error.Message, "calm: rust")
	want(t, "the row", byName["calm"].Skipped.Message, "something could not be run. Again: lockstorm run calm --runs 2")
}

// Law: fewer runs than were asked for are never as expected, whyever they are fewer.
func TestCIOfARowThatWasNotFinished(t *testing.T) {
	s, err := scenarios.Find("calm")
	if err != nil {
		t.Fatal(err)
	}
	tally, err := (batch{experiment: prepared(t, s), first: 1, runs: 2, each: func(stored) {}}).run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	r := rowChecks{options: &ciOptions{}}
	for runs, outcome := range map[int]ci.Outcome{2: ci.AsExpected, 3: ci.Undecided} {
		want(t, "outcome", r.check(t.Context(), task{Scenario: s, First: 1, Runs: runs}, tally, nil).Outcome, outcome)
	}
}

func prepared(t *testing.T, s scenarios.Scenario) runner.Experiment {
	t.Helper()
	e, err := prepareOn(backends[0].Backend, s)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// A find that could not be shrunk is a violation all the same.
func TestCIOfAFindThatIsNotShrunk(t *testing.T) {
	o := ciOptions{hunt: huntOptions{lock: "redlock", assumed: promisedWord, seed: 3}}
	c := o.broken(huntCheck(checker.Lease), checker.Lease, fuzz.Run{Number: 7})
	want(t, "outcome", c.Outcome, ci.Contradiction)
	want(t, "headline", c.Headline(), `lease exclusion violated in run 7 of the hunt. Again: lockstorm hunt --lock redlock --assume promised --seed 3 --runs 7`)
}

// An expected violation that no run shows is undecided, with the command for the runs.
func TestCIOfWhatIsNotShown(t *testing.T) {
	elsewhere(t)
	_, text, _ := command(t, "show", "calm")
	write(t, "calmer.yaml", strings.Replace(text, "lease: holds", "lease: violated", 1))
	code, out, _ := command(t, "ci", "--suites", "debate", "--rows", "./calmer.yaml", "--runs", "2")
	want(t, "exit code", code, exitUndecided)
	wantIn(t, out, "\ndebate: ./calmer.yaml, undecided\nviolations of lease exclusion are expected, but none occurred: ", "\n\nAgain: lockstorm run ./calmer.yaml --runs 2\n")
}

// The summary is appended to those of other steps, and on GitHub annotations are printed by
// default.
func TestCIOnGitHub(t *testing.T) {
	elsewhere(t)
	write(t, "summary.md", "before\n")
	t.Setenv(onGitHub, "true")
	t.Setenv(gitHubSummary, "summary.md")
	_, out, _ := command(t, "ci", "--suites", "debate", "--rows", "calm", "--budget", "1ns")
	wantIn(t, out, "::warning title=lockstorm debate::1 check not run: ")
	summary, err := os.ReadFile("summary.md")
	if err != nil {
		t.Fatal(err)
	}
	wantIn(t, string(summary), "before\n## Lockstorm: undecided\n")
	_, out, _ = command(t, "ci", "--suites", "debate", "--rows", "calm", "--budget", "1ns", "--annotations=false")
	if strings.Contains(out, "::") {
		t.Error(out)
	}
}

// Bad input is one line, before anything runs.
func TestCIBadInput(t *testing.T) {
	elsewhere(t)
	write(t, "empty/README.md", "")
	write(t, "mixed/a.yaml", "name: calm\n")
	write(t, "file", "")
	_, text, _ := command(t, "show", "calm")
	write(t, "calm.yaml", text)
	path := savedCaseHere(t, "", "")
	for _, c := range []struct{ args, want string }{
		{"calm", `unexpected argument "calm": want lockstorm ci`},
		{"--budget 0s", "--budget 0s: want more than 0"},
		{"--budget -1s", "--budget -1s: want more than 0"},
		{"--runs 0", "--runs 0: want at least 1"},
		{"--hunt-runs 0", "--hunt-runs 0: want at least 1"},
		{"--suites sing", `--suites: unknown suite "sing": there is tests, cases, debate, explore, hunt`},
		{"--suites=", "--suites: want at least one of tests, cases, debate, explore, hunt"},
		{"--suites cases --rows calm", "--rows applies to the suites debate and explore, which --suites leaves out"},
		{"--suites cases,debate --hunt-runs 3", "--hunt-runs applies to the suite hunt, which --suites leaves out"},
		{"--suites hunt --cases empty", "--cases applies to the suite cases, which --suites leaves out"},
		{"--cases nowhere", "--cases: nowhere does not exist"},
		{"--cases empty", "--cases: empty: no case in it (a file *.yaml)"},
		{"--cases mixed", "--cases: mixed/a.yaml: line 1: there is no version, so it is no case"},
		{"--cases=", "--cases: want at least one file or directory"},
		{"--rows=", "--rows: want at least one row"},
		{"--rows calm,clam", fmt.Sprintf(`--rows: unknown row "clam"; the nearest of %d: calm`, knownRows())},
		{"--rows ./nowhere.yaml", "--rows: open ./nowhere.yaml: no such file"},
		{"--rows " + path, "--rows: " + path + ": this is a case, not a scenario: use lockstorm replay"},
		{"--rows calm,calm.yaml", "--rows: calm.yaml: another scenario is also named calm: rename one"},
		{"--lock bluelock", `--lock: unknown lock "bluelock"`},
		{"--assume nowhere", "--assume nowhere: no such file"},
		{"--backend tin", `unknown backend "tin": want sim`},
		{"--out=", "--out: want a directory"},
		{"--out file", "--out file: not a directory"},
		{"--junit empty", "--junit empty: is a directory"},
		{"--junit file/below/junit.xml", "--junit file/below/junit.xml: not a directory"},
		{"--summary empty", "--summary empty: is a directory"},
	} {
		code, out, problems := command(t, append([]string{"ci"}, strings.Fields(c.args)...)...)
		want(t, c.args+": exit code", code, exitBadInput)
		want(t, c.args+": output", out, "")
		want(t, c.args+": lines", strings.Count(problems, "\n"), 1)
		wantIn(t, problems, c.want)
	}
}

// For a case that no longer shows its violation, the output says what to do.
func TestCIOfACaseThatWasMended(t *testing.T) {
	elsewhere(t)
	c, err := cases.Load(filepath.Join(sources, "testdata", "cases", "redlock-contract-fence-of-a-minority.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	c.Shows = checker.Violated // as it was before the defect was mended
	path, err := cases.Save("mine", c)
	if err != nil {
		t.Fatal(err)
	}
	code, out, _ := command(t, "ci", "--suites", "cases", "--cases", path)
	want(t, "exit code", code, exitContradiction)
	wantIn(t, out, `contract holds, but the case says violated. If the lock has been repaired, write "shows: holds" into the case`)
}

// Law: by default ci runs what is the user's, and the suites one of whose flags is given.
func TestUsualSuites(t *testing.T) {
	for flags, suites := range map[string]string{
		"": "tests,cases", "budget seed tests cases": "tests,cases",
		"rows": "tests,cases,debate", "runs": "tests,cases,debate", "backend": "tests,cases,debate",
		"lock": "tests,cases,hunt", "rows hunt-runs": "tests,cases,debate,hunt",
	} {
		given := func(flag string) bool { return slices.Contains(strings.Fields(flags), flag) }
		want(t, "with the flags "+flags, strings.Join(suitesOf(given), ","), suites)
	}
}

// Law: so do the command and the action.
func TestUsualSuitesAreRun(t *testing.T) {
	elsewhere(t)
	savedCaseHere(t, "", "")
	_, out, _ := command(t, "ci")
	wantIn(t, out, "cases: 1 as expected")
	code, out, _ := command(t, "ci", "--rows", "calm", "--runs", "2")
	want(t, "exit code", code, exitAsExpected)
	wantIn(t, out, "cases: 1 as expected", "debate: 1 as expected", "ci: as expected (2 checks")
	a, _ := readAction(t)
	said, green := a.runs(t, map[string]string{"budget": "1h"})
	want(t, "what the action says", said, "code=0\n")
	want(t, "green", green, true)
	_, byName := readJUnit(t, "lockstorm-ci/junit.xml")
	want(t, "checks", len(byName), 1)
}
