//go:build linux

package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/internal/external"
	"github.com/lockstorm/lockstorm/internal/program"
	"github.com/lockstorm/lockstorm/internal/show/ci"
	userlock "github.com/lockstorm/lockstorm/locktest"
)

// configured returns the flag of a configuration, which is given as the lines of its file.
func configured(t *testing.T, lines ...string) []string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config.yaml")
	write(t, path, strings.Join(lines, "\n")+"\n")
	return []string{"--config", path}
}

// testProgram runs a fake program through a storm.
func testProgram(t *testing.T, behaviour string, config []string, flags ...string) (code int, out, problems string) {
	t.Helper()
	args := slices.Concat([]string{"test", "--ttl", "400ms"}, config, flags, []string{"--"}, fakeCommand(behaviour))
	return decided(t, args...)
}

// A lock that is right passes storms, some of which need a restart of its server or a pause of itself.
func TestARightProgramPasses(t *testing.T) {
	t.Parallel()
	code, out, problems := testProgram(t, "right", configured(t, "rounds: 5"), "--ttl", "1s", "--storm", "calm,holder-stands-still,node-comes-back-late", "--out", t.TempDir())
	want(t, "exit code", code, exitAsExpected)
	wantIn(t, out, "ok         calm", "ok         holder-stands-still", "ok         node-comes-back-late")
	if t.Failed() {
		t.Log(out, problems)
	}
}

// The default storms are those of locktest on the same nodes.
func TestProgramsGetTheStormsOfLocktest(t *testing.T) {
	for _, nodes := range []int{1, 5} {
		lock, err := testOptions{config: external.Config{Nodes: nodes}, runs: 1, jobs: 1}.prepare(fakeCommand("right"))
		if err != nil {
			t.Fatal(err)
		}
		var got, wanted []string
		for _, s := range lock.storms {
			got = append(got, s.scenario.Name)
		}
		settable := lock.External().WallClock
		for _, s := range userlock.Storms(userlock.Config{Backend: userlock.Process, Nodes: nodes}) {
			if !strings.HasPrefix(s.Name, "callers-") && (s.Name != "clients-clocks-differ" || settable) {
				wanted = append(wanted, s.Name)
			}
		}
		want(t, fmt.Sprintf("storms on %d nodes", nodes), strings.Join(got, " "), strings.Join(wanted, " "))
		if lock.config.TTL%time.Second == 0 {
			t.Errorf("the default TTL is %v: locks cut it to whole seconds", lock.config.TTL)
		}
	}
}

// A program that deletes the key of others is found, its run is stored, and the command that is
// printed runs it again.
func TestACarelessProgramIsFound(t *testing.T) {
	t.Parallel()
	dir, config := t.TempDir(), configured(t, "rounds: 4", "work: 300ms", "think: 1ms", "patience: 7s", "clients: 4")
	code, out, problems := testProgram(t, "careless", config, "--storm", "writer-stands-still", "--out", dir, "--runs", "4", "--property", "V1,C")
	want(t, "exit code", code, exitContradiction)
	// It overlaps (V1), or only deletes the key of another (C), by how long its calls take.
	found := regexp.MustCompile(`(?m)^(V1|C) \((lease exclusion|contract)\) is violated in writer-stands-still, seed (\d)`).FindStringSubmatch(out)
	if found == nil {
		t.Fatal(out, problems)
	}
	violates, title, seed := found[1], found[2], found[3]
	violated := fmt.Sprintf("%s (%s) is violated in writer-stands-still", violates, title)
	written := regexp.MustCompile(`\n  Stored: (\S+), with story`).FindStringSubmatch(out)
	if written == nil || !strings.HasPrefix(written[1], filepath.Join(dir, "writer-stands-still-process-"+seed)) { // a later try has a number behind it
		t.Fatal(out, problems)
	}
	stored := written[1]
	again := "lockstorm test --again " + stored + " " + strings.Join(config, " ") + " --property V1,C -- " + strings.Join(fakeCommand("careless"), " ")
	wantIn(t, out, "VIOLATED   writer-stands-still", "\n  "+external.KnownCauses+"\n  Again:  "+again+"\n  Page:   lockstorm report "+stored+"\n  Stored: "+stored+", with story and plan in failure.txt\n")
	wantIn(t, read(t, filepath.Join(stored, "failure.txt")), violated, violates+" promises: ", "name: writer-stands-still\n", "- pause:", again)

	code, out, _ = decided(t, append([]string{"test", "--again", stored, "--runs", "10", "--out", dir, "--format", "json", "--"}, fakeCommand("careless")...)...)
	want(t, "exit code of the repetition", code, exitContradiction)
	wantIn(t, out, `"scenario":"writer-stands-still"`, `{"storm":"writer-stands-still","verdict":"contradiction","reason":"`)
	code, out, _ = command(t, "check", stored)
	want(t, "exit code of check, which expects nothing of the run", code, exitContradiction)
	wantIn(t, out, title+" violated")
	code, out, _ = decided(t, append([]string{"test", "--again", stored, "--out", dir, "--"}, fakeCommand("right")...)...)
	if code != exitAsExpected {
		t.Errorf("the same plan with a lock that is right: exit code %d\n%s", code, out)
	}
}

// Law: nodes that no client uses are told after runs that could have used them, and not after an interrupt.
func TestUnusedNodesAreTold(t *testing.T) {
	lock, err := testOptions{config: external.Config{Nodes: 3}, runs: 1, jobs: 1, out: t.TempDir()}.prepare(fakeCommand("right"))
	if err != nil {
		t.Fatal(err)
	}
	run := func(interrupted bool, unused ...int) (r testedRun) {
		r.Interrupted, r.unused = interrupted, unused
		return r
	}
	for name, c := range map[string]struct {
		runs []testedRun
		told string
	}{
		"unused in each run":               {[]testedRun{run(false, 2, 3), run(false, 3)}, "No client has connected to nodes [3]: is --nodes right?"},
		"used in the first run alone":      {[]testedRun{run(false), run(false, 1)}, ""},
		"used in an interrupted run":       {[]testedRun{run(false, 1), run(true)}, ""},
		"interrupted before anything":      {[]testedRun{run(true, 1, 2, 3)}, ""},
		"interrupted in the second of two": {[]testedRun{run(false, 3), run(true, 1, 2, 3)}, "nodes [3]"},
	} {
		var out bytes.Buffer
		p := newTestPrinter(lock, &out, &out)
		for _, r := range c.runs {
			p.runs++
			p.unused(r)
		}
		out.Reset()
		p.finish(false)
		if got := out.String(); c.told == "" && strings.Contains(got, "No client") || !strings.Contains(got, c.told) {
			t.Errorf("%s: printed %q, want %q", name, got, c.told)
		}
	}
}

// A program that breaks the protocol, or ends, is one error that names the program and what it did.
func TestABrokenProgramIsNamed(t *testing.T) {
	t.Parallel()
	for behaviour, said := range map[string]string{
		"garbage":    `line 2 of its standard output, "connected to redis": want a JSON object in each line`,
		"dies":       "it exited (exit status 1) before ready; the end of its standard error: no module named redis",
		"exits":      "it exited (exit status 7) during the run; the end of its standard error: a stack trace",
		"other-id":   `: the open call is acquire 1: want one of ["granted" "refused"] with its id`,
		"long-line":  "longer than 65536 bytes",
		"wall-clock": "and the monotonic clock of the machine showed",
		"seconds":    ": want milliseconds of the clock of now_ms, CLOCK_MONOTONIC",
		"version-2":  "version 2: want 1",
		"idle":       "has connected to none of the addresses of its hello",
	} {
		t.Run(behaviour, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			code, _, problems := command(t, slices.Concat([]string{"test", "--ttl", "100ms", "--storm", "calm", "--out", dir}, configured(t, "rounds: 3"), []string{"--"}, fakeCommand(behaviour))...)
			want(t, "exit code", code, exitBadInput)
			wantIn(t, problems, "lockstorm: storm calm, seed 1: client ", fakeProgram+" "+behaviour, said)
			want(t, "lines", strings.Count(problems, "\n"), 1)
		})
	}
}

// A call that never returns is a violation of the contract, by the bounds of its run, and not an error.
func TestAHangingProgramViolatesTheContract(t *testing.T) {
	t.Parallel()
	code, out, problems := testProgram(t, "hangs", configured(t, "rounds: 2", "bounds: {acquire: 1s, grant: 2s}"), "--ttl", "1s", "--storm", "calm", "--out", t.TempDir())
	if code != exitContradiction {
		t.Errorf("exit code %d\n%s%s", code, out, problems)
	}
	wantIn(t, out, "L1 (deadlock freedom) is violated in calm, seed 1.\n", "\n  Violated, too: C (contract).\n")
}

// A lock that tells losses is promised to tell them in time. One that does not is not.
func TestAProgramTellsLosses(t *testing.T) {
	t.Parallel()
	config, long := configured(t, "rounds: 2", "work: 1600ms"), []string{"--storm", "calm", "--property", "V2"}
	code, out, problems := testProgram(t, "tells", config, append(long, "--out", t.TempDir())...)
	if code != exitAsExpected {
		t.Errorf("tells: exit code %d\n%s%s", code, out, problems)
	}
	code, out, problems = testProgram(t, "right", config, append(long, "--out", t.TempDir())...)
	if code != exitContradiction {
		t.Errorf("does not tell: exit code %d\n%s%s", code, out, problems)
	}
}

// A lock that never grants fails without faults, and is undecided with faults. The last line says what
// was tried and what was not.
func TestAProgramThatNeverGrants(t *testing.T) {
	t.Parallel()
	code, out, problems := testProgram(t, "refuses", configured(t, "rounds: 3", "bounds: {free: 1m}"), "--storm", "calm", "--out", t.TempDir())
	if code != exitContradiction {
		t.Errorf("exit code %d\n%s%s", code, out, problems)
	}
	wantIn(t, out, "FAILED     calm", "Nobody was granted the lock in 1 run: 9 calls of Lock failed, the last one with: not today",
		"\n0 grants in 1 run of 1 storm; not exercised: calls of Extend, holds beyond the TTL, notices of a loss, ended contexts, grants to callers that share a lock, grants of confusing names, runs with client clocks, generated faults")
	code, out, problems = testProgram(t, "refuses", configured(t, "rounds: 3", "bounds: {free: 1m}"), "--storm", "node-stands-still", "--out", t.TempDir(), "--seed", "7")
	if code != exitUndecided {
		t.Errorf("with faults: exit code %d\n%s%s", code, out, problems)
	}
	wantIn(t, out, "\nUndecided in node-stands-still, seed 7.\n  Again: lockstorm test --nodes 1 --ttl 400ms --storm node-stands-still --seed 7 --parallel 1 --config ")
}

// The keys of a program are known by what its clients send: a release that leaves the key is found. A lock
// that gives all keys the same value is not judged by them.
func TestKeysOfAProgramAreJudged(t *testing.T) {
	t.Parallel()
	flags := []string{"--ttl", "1s", "--storm", "calm", "--out"}
	code, out, problems := testProgram(t, "keeps", configured(t, "rounds: 2"), append(flags, t.TempDir(), "--property", "L3,C")...) // others cannot get the lock either (L1)
	if code != exitContradiction || !strings.Contains(out, "L3 violated") {
		t.Errorf("keeps: exit code %d\n%s%s", code, out, problems)
	}
	wantIn(t, out, "Node 1 still kept the key of", "Violated, too: C (contract).")
	code, out, problems = testProgram(t, "right", configured(t, "rounds: 5"), append(flags, t.TempDir())...)
	if code != exitAsExpected || !strings.Contains(out, "B holds") || !strings.Contains(out, "L3 holds") {
		t.Errorf("right: exit code %d\n%s%s", code, out, problems)
	}
	code, out, problems = testProgram(t, "one-value", configured(t, "rounds: 5"), append(flags, t.TempDir())...)
	if code != exitAsExpected || !strings.Contains(out, "L3 unknown (not promised)") {
		t.Errorf("one value: exit code %d\n%s%s", code, out, problems)
	}
}

// A semaphore in a program gets the weight of each call, and is judged by its permits.
func TestAProgramWithPermits(t *testing.T) {
	t.Parallel()
	config := configured(t, "capacity: 3", "rounds: 20", "think: 1ms")
	code, out, problems := testProgram(t, "right", config, "--ttl", "1s", "--storm", "calm", "--out", t.TempDir())
	if code != exitAsExpected || !strings.Contains(out, "V1 holds") {
		t.Errorf("right: exit code %d\n%s%s", code, out, problems)
	}
	code, out, problems = testProgram(t, "one-too-many", config, "--ttl", "1s", "--storm", "calm", "--out", t.TempDir())
	if code != exitContradiction {
		t.Errorf("one too many: exit code %d\n%s%s", code, out, problems)
	}
	wantIn(t, strings.Join(strings.Fields(out), " "), "V1 (lease exclusion) is violated in calm, seed 1", "of 3 permits")
}

// A lock that counts its validity from after the reply is found without a second client.
func TestAProgramThatCountsLate(t *testing.T) {
	t.Parallel()
	code, out, problems := testProgram(t, "counts-late", configured(t, "rounds: 5"), "--ttl", "1s", "--storm", "calm", "--out", t.TempDir())
	if code != exitContradiction {
		t.Errorf("exit code %d\n%s%s", code, out, problems)
	}
	wantIn(t, strings.Join(strings.Fields(out), " "), " B violated, V1 holds", // the lines are as long as a screen is wide
		"A client is told that it holds the lock, but its keys do not protect the hold: the lock itself counts its validity from ", "ms longer than a quorum keeps it. B (backing) is violated in calm, seed 1, ")
}

// A lock that compares the wall clocks of clients is found by the default storms.
func TestAProgramThatComparesClocks(t *testing.T) {
	t.Parallel()
	lock := program.Lock{Command: []string{"python3", "testdata/comparesclocks.py"}}
	if !lock.External().WallClock {
		t.Skip("needs python3 and libfaketime")
	}
	args := append([]string{"test", "--ttl", "1s", "--storm", "calm,clients-clocks-differ", "--out", t.TempDir(), "--"}, lock.Command...)
	code, out, problems := decided(t, args...)
	if code != exitContradiction {
		t.Errorf("exit code %d\n%s%s", code, out, problems)
	}
	wantIn(t, out, "ok         calm ", "VIOLATED   clients-clocks-differ ", "V1 violated", "put another value in its place", "1 run with client clocks")
}

// Law: runs for which there is no time are not begun, and are no pass.
func TestABudgetThatIsTooSmall(t *testing.T) {
	dir := t.TempDir()
	code, out, _ := testProgram(t, "right", nil, "--storm", "calm,contention", "--budget", "1ms", "--out", dir)
	want(t, "exit code", code, exitUndecided)
	wantIn(t, out, "2 runs in 2 storms, about ", ", more than the budget of 1ms: not all storms will run; --budget 1m runs all\n", "\nNot run, for lack of time in the budget of 1ms: calm, contention.\n")
	if list, err := os.ReadDir(dir); len(list) > 0 || err != nil {
		t.Errorf("stored: %v, %v", list, err)
	}
}

// Law: no more runs are made at a time than the limit, which runs that were too slow under it halve once. The
// one with the lowest number is next.
func TestPace(t *testing.T) {
	p := newPace(4)
	for number := range 4 {
		want(t, "limit", p.begin(t.Context(), number), 4)
	}
	began := make(chan int, 2)
	for _, number := range []int{8, 7} {
		go func() {
			p.begin(t.Context(), number)
			began <- number
		}()
	}
	waiting := func(n int) bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		return len(p.waiting) == n
	}
	soon(t, "two wait", func() bool { return waiting(2) })
	p.end(4, true)
	p.end(4, true) // of the same limit
	want(t, "limit after slow runs", p.limit, 2)
	if !waiting(2) {
		t.Error("a run begins beside as many as the limit")
	}
	p.end(4, false)
	want(t, "first", <-began, 7)
	p.end(4, false)
	want(t, "second", <-began, 8)
	p.end(2, true)
	p.end(2, true)
	want(t, "lowest limit", p.begin(t.Context(), 1), 1)
	p.end(1, true)
	want(t, "lowest limit after a slow run", p.begin(t.Context(), 1), 1)
	ctx, stop := context.WithCancel(t.Context())
	stop()
	p.begin(ctx, 2) // does not wait
}

// A program that can extend is asked to where work outlasts the TTL. One that cannot is not, and is not
// blamed for it.
func TestAProgramIsAskedToExtendLongHolds(t *testing.T) {
	t.Parallel()
	for behaviour, said := range map[string]string{
		"extends": ` calls of Extend, \d+ holds beyond the TTL; not exercised: notices`,
		"right":   ` of 1 storm; not exercised: calls of Extend, holds beyond the TTL, notices`,
	} {
		code, out, problems := testProgram(t, behaviour, nil, "--storm", "long-work", "--property", "V1,V2,V3,C", "--out", t.TempDir())
		if code != exitAsExpected || !regexp.MustCompile(said).MatchString(out) {
			t.Errorf("%s: exit code %d, want %q\n%s%s", behaviour, code, said, out, problems)
		}
	}
}

// A pause stops the program itself: whatever it does meanwhile waits, too.
func TestAPauseStopsTheProgram(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	code, out, problems := testProgram(t, "beats", configured(t, "rounds: 10"), "--storm", "holder-stands-still", "--out", dir)
	if code != exitAsExpected {
		t.Errorf("exit code %d\n%s%s", code, out, problems)
	}
	text := read(t, filepath.Join(dir, "holder-stands-still-process-1", "client-1.stderr"))
	longest, last := 0, 0
	for _, beat := range strings.Fields(text) {
		now, err := strconv.Atoi(beat)
		if err != nil {
			continue // where lines are left out
		}
		if last > 0 {
			longest = max(longest, now-last)
		}
		last = now
	}
	if longest < 600 { // the pause is one and a half TTL
		t.Errorf("the longest silence of the paused program was %d ms\n%s", longest, text)
	}
}

// Law: when the command ends, however it does, no program is left: also none that ignores the end
// of its input.
func TestNoProgramIsLeft(t *testing.T) {
	t.Parallel()
	for _, behaviour := range []string{"pid", "stays"} {
		dir := t.TempDir()
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		o := testOptions{config: external.Config{Nodes: 1, TTL: 100 * time.Millisecond, Rounds: 1000}, storms: []string{"calm"}, runs: 1, jobs: 1, seed: 1, out: dir}
		lock, err := o.prepare(fakeCommand(behaviour))
		if err != nil {
			t.Fatal(err)
		}
		go func() { // stopped while it runs: when something is recorded
			for t.Context().Err() == nil {
				if text, _ := os.ReadFile(filepath.Join(dir, "calm-process-1", "history.jsonl")); bytes.Contains(text, []byte(`"granted"`)) {
					break
				}
				time.Sleep(10 * time.Millisecond)
			}
			stop()
		}()
		var out bytes.Buffer
		if err := lock.run(ctx, &out, &out); !errors.Is(err, verdictError(exitUndecided)) {
			t.Errorf("%v\n%s", err, &out)
		}
		wantIn(t, out.String(), "Stopped before the end")
		told, err := filepath.Glob(filepath.Join(dir, "*", "client-*.stderr"))
		if err != nil || len(told) != 3 {
			t.Fatalf("%v: %v", told, err)
		}
		for _, file := range told {
			var pid int
			if _, err := fmt.Sscanf(read(t, file), "pid %d", &pid); err != nil {
				t.Fatal(err)
			}
			if err := syscall.Kill(pid, 0); err == nil {
				t.Errorf("%s: process %d is left", behaviour, pid)
			}
		}
	}
}

// Law: the kernel kills the programs when the command is killed.
func TestAKilledCommandLeavesNoProgram(t *testing.T) {
	t.Parallel()
	args := slices.Concat([]string{"test", "--ttl", "100ms", "--budget", "100h", "--storm", "calm", "--out", t.TempDir()}, configured(t, "rounds: 10000"), []string{"--"}, fakeCommand("stays"))
	cmd := exec.Command(os.Args[0], args...)
	mark := "LOCKSTORM_TEST_MARK=" + t.TempDir()
	cmd.Env = append(os.Environ(), asCommand+"=1", mark)
	programs := func() (n int) {
		environs, _ := filepath.Glob("/proc/[0-9]*/environ")
		for _, path := range environs {
			env, _ := os.ReadFile(path) // that of a dead process is empty
			line, _ := os.ReadFile(filepath.Join(filepath.Dir(path), "cmdline"))
			if bytes.Contains(env, []byte(mark)) && bytes.HasSuffix(line, []byte("\x00"+fakeProgram+"\x00stays\x00")) && !bytes.Contains(line, []byte("--storm")) {
				n++
			}
		}
		return n
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	soon(t, "the programs run", func() bool { return programs() == 3 })
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	soon(t, "no program runs", func() bool { return programs() == 0 })
}

// ci runs programs: a storm is a check, and what there was no time for is listed.
func TestCIRunsPrograms(t *testing.T) {
	elsewhere(t)
	write(t, "three.yaml", "rounds: 3\nbounds: {free: 1m}\n") // otherwise whoever refuses breaks L1 first
	program := func(behaviour string) string {
		return "--config three.yaml --ttl 400ms --storm calm,node-stands-still -- " + strings.Join(fakeCommand(behaviour), " ")
	}
	right, refuses, exits := program("right"), program("refuses"), program("exits")
	code, out, _ := command(t, "ci", "--program", right, "--program", refuses, "--program", exits, "--junit", "junit.xml")
	want(t, "exit code", code, exitBadInput)
	if strings.Contains(out, "None of your tests") {
		t.Error(out)
	}
	got := readJUnit(t, "junit.xml")
	for name, wanted := range map[string]ci.Outcome{
		"program " + right + " calm": ci.AsExpected, "program " + right + " node-stands-still": ci.AsExpected,
		"program " + refuses + " calm": ci.Contradiction, "program " + refuses + " node-stands-still": ci.Undecided,
		"program " + exits: ci.Undecided,
	} {
		if o, r := resultOf(got[name]); o != wanted && (r == nil || !strings.Contains(r.Message, "too slow")) {
			t.Errorf("%s: %v, %v", name, o, r)
		}
	}
	wantIn(t, got["program "+exits].Error.Message, "it exited (exit status 7)")
	code, _, _ = command(t, "ci", "--program", right, "--budget", "1ns", "--junit", "junit.xml")
	want(t, "exit code without time", code, exitUndecided)
	wantOutcomes(t, map[string]ci.Outcome{"program " + right + " calm": ci.NotRun, "program " + right + " node-stands-still": ci.NotRun})
}
