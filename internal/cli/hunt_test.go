package cli

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/terminal"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/results/cases"
)

// Law: a hunt of so many runs prints the same whenever it is repeated, and keeps what it
// finds as cases that are read again.
func TestHuntIsRepeatable(t *testing.T) {
	var said []string
	for range 2 {
		dir := t.TempDir()
		code, out, problems := command(t, "hunt", "crash-restart", "--runs", "300", "--out", dir)
		want(t, "exit code", code, exitContradiction)
		want(t, "on stderr", problems, "")
		said = append(said, strings.ReplaceAll(out, dir, "DIR"))
		files, err := filepath.Glob(filepath.Join(dir, "*"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%v, %v: want a case for each find", files, err)
		}
		for _, f := range files {
			c, err := cases.Load(f)
			if err != nil {
				t.Fatal(err)
			}
			want(t, "what the case shows", c.Shows, checker.Violated)
			wantIn(t, out, "lockstorm replay "+f)
			wantIn(t, strings.Join(strings.Fields(out), " "), c.Story)
		}
	}
	want(t, "the second time", said[1], said[0])
	wantMatch(t, said[0], `(?m)^crash-restart: \d properties violated \(300 runs, `)
	wantMatch(t, said[0], `(?m)^lease exclusion violated in run \d+: a limit: fault \d: `)
	wantMatch(t, said[0], `\n\n0 defects, \d limits: .*: --assume promised\n$`)
	wantMatch(t, said[0], `(?m)^shrunk from \d+ clients, .* faults to \d+ clients, .* \d+ faults?( \(\d+ of them a lasting partition\))?$`)
}

func TestHuntScore(t *testing.T) {
	dir := t.TempDir()
	code, out, _ := command(t, "hunt", "crash-restart", "--property", "V1", "--runs", "2000", "--out", dir, "--format", "json")
	want(t, "exit code", code, exitContradiction)
	var s haulScore
	if err := json.Unmarshal([]byte(out), &s); err != nil {
		t.Fatal(err)
	}
	if len(s.Finds) != 1 || len(s.Hunted) != 1 || s.Violations[checker.Lease] != 1 {
		t.Fatalf("%d finds of %v, %v: want the first of lease exclusion", len(s.Finds), s.Hunted, s.Violations)
	}
	f := s.Finds[0]
	want(t, "the hunt ends with the find", f.Run, s.Runs)
	want(t, "a defect", f.Defect, false)
	if f.Limit == "" || f.Story == "" || s.Grants == 0 || s.Faults == 0 || f.Shrunk.Faults > f.Found.Faults {
		t.Errorf("something is not told: %+v", s)
	}
	if _, err := os.Stat(f.Case); err != nil {
		t.Error(err)
	}
}

// Inside its assumptions Redlock keeps what it promises: the same hunt finds nothing.
func TestHuntInsideTheAssumptions(t *testing.T) {
	dir := t.TempDir()
	code, out, _ := command(t, "hunt", "crash-restart", "--runs", "500", "--assume", "promised", "--out", filepath.Join(dir, "new", "cases"))
	want(t, "exit code", code, exitAsExpected)
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("%v, %v: a hunt that finds nothing leaves nothing behind", left, err)
	}
	wantMatch(t, out, `^crash-restart: nothing violated \(500 runs, .*\)\nRuns that exercised each property within the assumptions: V1 \d+, V2 \d+, L1 \d+, L3 \d+, C \d+; not exercised: V3 V4 L2\.\n`)
}

// Silence about what nobody promises is no pass.
func TestHuntOfWhatIsNotPromised(t *testing.T) {
	for args, none := range map[string]string{
		"--lock etcd-unchecked --property V1":    "none; not exercised: V1.",
		"--lock check-then-set --property V2,V4": "none; not exercised: V2 V4.",
		"crash-restart --property V3,C":          "C 20; not exercised: V3.",
	} {
		code, out, _ := command(t, append([]string{"hunt", "--assume", "promised", "--runs", "20", "--out", ""}, strings.Fields(args)...)...)
		want(t, args+": exit code", code, exitUndecided)
		wantIn(t, out, "nothing violated (20 runs, ", "\nRuns that exercised each property within the assumptions: "+none)
	}
}

// Nor is it where no run can tell, whatever is assumed.
func TestHuntOfWhatIsNotJudged(t *testing.T) {
	code, out, _ := command(t, "hunt", "crash-restart", "--property", "V4", "--runs", "20", "--out", "")
	want(t, "exit code", code, exitUndecided)
	wantIn(t, out, "nothing violated (20 runs, ", "none; not exercised: V4.")
}

// Locks in a store are put to the test of a lost node too, and pass it.
func TestHuntOfFaultToleranceInAStore(t *testing.T) {
	code, out, _ := command(t, "hunt", "--lock", "etcd", "--property", "L2", "--assume", "promised", "--runs", "300", "--out", "")
	want(t, "exit code", code, exitAsExpected)
	wantMatch(t, out, `within the assumptions: L2 \d+\.\n$`)
}

// A violation by a lock in a store is shrunk to a scenario that such a lock allows.
func TestHuntOfAStoreShrinks(t *testing.T) {
	code, out, problems := command(t, "hunt", "--lock", "etcd-unchecked", "--property", "V4", "--runs", "100", "--out", "")
	want(t, "on stderr", problems, "")
	want(t, "exit code", code, exitContradiction)
	wantMatch(t, out, `(?m)^shrunk from `)
}

// A hunt that is stopped tells what it knows.
func TestHuntIsStopped(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var out, problems strings.Builder
	code := execute(ctx, []string{"hunt", "crash-restart", "--out", ""}, strings.NewReader(""), &out, &problems)
	want(t, "exit code", code, exitUndecided)
	wantIn(t, out.String(), "crash-restart: undecided (0 runs, ", "Stopped before the end. These are the results so far.")
}

// caught hunts a little around crash-restart.
func caught(t *testing.T) (huntOptions, search, haul) {
	t.Helper()
	o := huntOptions{lock: "redlock", faults: "all", most: 6, runs: 50, seed: 1}
	q, err := o.search([]string{"crash-restart"})
	if err != nil {
		t.Fatal(err)
	}
	h, err := q.run(t.Context(), newHuntLine(io.Discard, ""))
	if err != nil || len(h.First) == 0 {
		t.Fatalf("%v, %v: want something found", h.First, err)
	}
	return o, q, h
}

// A find is printed even if its case cannot be stored: the hunt may have taken an hour.
func TestHuntTellsWhatItCannotKeep(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	o, q, h := caught(t)
	o.out = filepath.Join(file, "below") // what writable has seen is gone
	finds, err := o.take(t.Context(), q, h, io.Discard)
	want(t, "finds", len(finds), len(h.First))
	if err == nil || !strings.HasPrefix(err.Error(), "--out: store the case of ") {
		t.Errorf("%v: want to be told that a case is not kept", err)
	}
}

// On a narrow terminal the progress line shows the most important parts, on one line.
func TestHuntLine(t *testing.T) {
	_, q, h := caught(t)
	_, problems := terminal.Outputs(io.Discard, screen{columns: 60}, os.Getenv)
	line := newHuntLine(problems, "crash-restart")
	defer line.Done()
	line.see(q, &h.Results, time.Second)
	if n := utf8.RuneCountInString(line.String()); n > 60 {
		t.Errorf("%d characters: %q", n, line)
	}
	wantMatch(t, line.String(), `^crash-restart +0 runs left, V\d ✗ \d+, `)
}

// A find of a hunt that was stopped is not called shrunk.
func TestFindsOfAHuntThatIsStopped(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	o, q, h := caught(t)
	finds, err := o.take(ctx, q, h, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range finds {
		var out strings.Builder
		f.print(&out, "mine.yaml")
		wantIn(t, out.String(), "not shrunk, because the hunt was stopped: 2 clients, ", ": inside mine.yaml, but still a limit: ")
	}
}

// Finds from before the hunt was stopped are shrunk. A second Ctrl-C skips that and prints them
// unshrunk.
func TestStoppedHuntShrinks(t *testing.T) {
	for _, impatient := range []bool{false, true} {
		last, end := context.WithCancel(t.Context())
		ctx, stop := context.WithCancel(context.WithValue(t.Context(), patientKey{}, last))
		if impatient {
			end()
		}
		o := huntOptions{lock: "redlock", faults: "all", most: 6, budget: time.Hour, seed: 1}
		q, err := o.search([]string{"crash-restart"})
		if err != nil {
			t.Fatal(err)
		}
		var opened atomic.Int32
		open := q.Backend.Open
		q.Backend.Open = func(c context.Context, s nemesis.Setting, seed uint64, sink history.Sink) (runner.World, error) {
			if opened.Add(1) == 300 { // by then something is found
				stop()
			}
			return open(c, s, seed, sink)
		}
		cmd := newHunt()
		var out strings.Builder
		cmd.SetContext(ctx)
		cmd.SetOut(&out)
		if err := o.once(cmd, q); !errors.Is(err, verdictError(exitContradiction)) {
			t.Errorf("%v: want what was found to be a violation", err)
		}
		wantIn(t, out.String(), stoppedLine)
		if shrunk := strings.Contains(out.String(), "\nshrunk from "); shrunk == impatient || strings.Contains(out.String(), "the hunt was stopped") != impatient {
			t.Errorf("impatient: %t\n%s", impatient, out.String())
		}
		end()
	}
}

// Law: a kind of fault for which some worlds of a lock have no room is drawn in the others.
func TestHuntDrawsFaultsWhereThereIsRoom(t *testing.T) {
	code, out, problems := command(t, "hunt", "--faults", "failover", "--property", "V1", "--runs", "500", "--out", "")
	want(t, "on stderr", problems, "")
	want(t, "exit code", code, exitContradiction)
	wantIn(t, out, "lease exclusion violated in run ")
}

// Bad input is one line, before the hunt begins.
func TestHuntBadInput(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, []byte("without: [rain]\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ args, want string }{
		{"--budget 0s", "--budget 0s: want more than 0"},
		{"--budget -1s", "--budget -1s: want more than 0"},
		{"--runs 0", "--runs 0: want at least 1"},
		{"--most 0", "--most 0: want 1 to 99"},
		{"--lock bluelock", `--lock: unknown lock "bluelock"`},
		{"--property V9", `--property: unknown property "V9": want V1 lease exclusion, `},
		{"--property=", "--property: want at least one property"},
		{"../../testdata/cases/redlock-lease-failover.yaml", "redlock-lease-failover.yaml: this is a case, not a scenario: use lockstorm replay"},
		{"--faults rain", `--faults "rain": rain: unknown kind of fault "rain"`},
		{"calm --faults failover", `--faults "failover": faults.failover: a failover is impossible here: `},
		{"raining", `unknown scenario "raining"`},
		{"calm --lock redlock", "--lock: the scenario already names its lock"},
		{"calm failover", `unexpected argument "failover": want lockstorm hunt [SCENARIO]`},
		{"--assume " + filepath.Join(dir, "missing"), "missing: no such file: want a file or \"promised\""},
		{"--assume " + file, file + ": line 1: without"},
		{"calm --out " + filepath.Join(file, "below"), "--out " + filepath.Join(file, "below") + ": not a directory"},
		{"calm --format yaml", `unknown format "yaml": want text or json`},
		{"calm --out " + file, "--out " + file + ": not a directory"},
	} {
		code, out, problems := command(t, append([]string{"hunt"}, strings.Fields(c.args)...)...)
		want(t, c.args+": exit code", code, exitBadInput)
		want(t, c.args+": output", out, "")
		want(t, c.args+": lines", strings.Count(problems, "\n"), 1)
		wantIn(t, problems, c.want)
	}
}
