package locktest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/external"
	"github.com/lockstorm/lockstorm/internal/testkit"
	"github.com/lockstorm/lockstorm/locktest"
	"github.com/lockstorm/lockstorm/results"
)

// inner is the environment variable that names the failing test to run. It runs in its own
// process.
const inner = "LOCKTEST_INNER"

// innerTests are the tests that fail.
var innerTests = map[string]func(t *testing.T){
	"del": func(t *testing.T) {
		c := locktest.Config{Name: "released by DEL", Nodes: 1, Again: 3, Dir: os.Getenv(inner + "_DIR")}
		for _, s := range locktest.Storms(c) {
			if s.Name == "holder-stands-still" || s.Name == "calm" {
				c.Storms = append(c.Storms, s)
			}
		}
		locktest.Run(t, c, func(env locktest.Env) locktest.Locker {
			l := onOneNode(env)
			l.plainDel, l.endless = true, true
			return l
		})
	},
	"drawn": func(t *testing.T) {
		pause := loaded(t, `
name: drawn
plan:
  - pause: {client: 1}
    start: {client: 1, step: granted, count: 2}
    end: {after: 3s}
  - node-pause: {node: 1}
    start: {client: 3, step: extended}
    end: {after: 1s}
  - cancel: {client: 2}
    start: {at: 9s}
generate: {most: 2, faults: {latency: 1}}
`)
		c := locktest.Config{Name: "drawn", Nodes: 1, Again: 3, Budget: 10 * time.Minute, Dir: os.Getenv(inner + "_DIR"), Storms: []locktest.Storm{pause}}
		locktest.Run(t, c, func(env locktest.Env) locktest.Locker {
			l := onOneNode(env)
			l.plainDel, l.endless = true, true
			return l
		})
	},
	"three storms": func(t *testing.T) { runOverdue(t, locktest.Config{Again: 5}, "one", "two", "three") },
	"endless":      func(t *testing.T) { runOverdue(t, locktest.Config{Again: 1 << 30, Budget: time.Hour}, "one") },
	"talkative":    runTalkative,
	"fatal": func(t *testing.T) {
		locktest.Run(t, locktest.Config{}, func(locktest.Env) locktest.Locker {
			t.Fatal("no lock today")
			return nil
		})
	},
	"mutex":    func(t *testing.T) { runStalled(t, (*sync.Mutex).Lock) },
	"loop":     func(t *testing.T) { runStalled(t, func(*sync.Mutex) { loop() }) },
	"too many": func(t *testing.T) { locktest.StallBudget(1); runStalled(t, (*sync.Mutex).Lock) },
	"wakes": func(t *testing.T) {
		runStalled(t, func(*sync.Mutex) { <-outside })
		close(outside)
		for locktest.InBubbles() > 0 { // the time limit of runInner ends this
			time.Sleep(10 * time.Millisecond)
		}
		t.Log("all goroutines have ended")
	},
	"handshakes": func(t *testing.T) {
		locktest.Run(t, locktest.Config{Nodes: 1, Rounds: 3}, func(env locktest.Env) locktest.Locker {
			client := redis.NewClient(&redis.Options{Addr: env.Addrs[0], Dialer: env.Dial})
			env.Cleanup(client.Close)
			for range 3 {
				go client.Ping(context.Background()) // each makes a connection
			}
			return &oneNode{client: client, owner: "1", ttl: env.TTL}
		})
	},
	"within": func(t *testing.T) {
		locktest.Run(t, locktest.Config{Nodes: 1}, func(env locktest.Env) locktest.Locker {
			locktest.Run(t, locktest.Config{}, func(env locktest.Env) locktest.Locker { return onOneNode(env) })
			return onOneNode(env)
		})
	},
	"never grants":                inStorms(locktest.Config{Storms: []locktest.Storm{{Name: "calm"}, {Name: "again"}}}, refuses("")),
	"never grants, and sets keys": inStorms(locktest.Config{Storms: []locktest.Storm{{Name: "calm"}, {Name: "again"}}}, refuses("mine")),
	"never extends":               inStorms(longThenCalm, anExtension(func(l *oneNode) { l.stiff = true })),
	"never renews": inStorms(longThenCalm, func(env locktest.Env) locktest.Locker {
		l := lossReporter{oneNode: onOneNode(env)}
		return locktest.LockerFunc(func(ctx context.Context, resource string) (locktest.Hold, error) {
			h, err := l.Lock(ctx, resource)
			h.Until, h.Extend = time.Time{}, nil
			return h, err
		})
	}),
	"cut off for good": func(t *testing.T) {
		cut := loaded(t, "name: cut-off\nplan: [{partition: {nodes: [1]}, start: {at: 0s}}]")
		inStorms(locktest.Config{Patience: time.Second, Storms: []locktest.Storm{cut}}, anExtension(func(*oneNode) {}))(t)
	},
	"no fences": inStorms(locktest.Config{Storms: calm, Promises: []checker.Property{checker.Fence}}, anExtension(func(*oneNode) {})),
	"accepted": inStorms(locktest.Config{
		Storms: []locktest.Storm{{Name: "one"}}, Accept: []locktest.Accepted{{"one", checker.Contract, "as agreed"}},
	}, overdue),
	"accepted no more": inStorms(locktest.Config{
		Storms: []locktest.Storm{{Name: "one"}}, Accept: []locktest.Accepted{{"one", checker.Contract, "as agreed"}},
	}, withoutExtend),
	"accepted nowhere": inStorms(locktest.Config{
		Storms: []locktest.Storm{{Name: "one"}}, Accept: []locktest.Accepted{{"two", checker.Contract, "as agreed"}},
	}, overdue),
	"extending": inStorms(locktest.Config{
		Storms: []locktest.Storm{{Name: "long", Work: 6 * time.Second, Claimed: true}},
	}, anExtension(func(*oneNode) {})),
	"lying": inStorms(locktest.Config{Storms: []locktest.Storm{{Name: "calm"}}, Promises: []checker.Property{checker.Section}}, lying),
	"starving": func(t *testing.T) {
		c := locktest.Config{Nodes: 1, Runs: 1, Promises: []checker.Property{checker.Lease}}
		c.Storms = []locktest.Storm{stormOf(t, c, "contention")}
		locktest.Run(t, c, patient)
	},
	"none":  func(t *testing.T) { locktest.Run(t, locktest.Config{}, nil) },
	"nodes": func(t *testing.T) { locktest.Run(t, locktest.Config{Nodes: 65}, nil) },
	"missing": func(t *testing.T) {
		locktest.Run(t, locktest.Config{Backend: locktest.Process, Store: shop}, func(env locktest.Env) locktest.Locker { return onOneNode(env) })
	},
}

// calm is a storm without faults.
var calm = []locktest.Storm{{Name: "calm"}}

// longThenCalm has a storm of long holds, and another one.
var longThenCalm = locktest.Config{Storms: []locktest.Storm{{Name: "long", Claimed: true, Work: 10 * time.Second}, calm[0]}}

// outside is a channel that was not made within a run.
var outside = make(chan int)

// loop never waits.
func loop() {
	for i := 0; ; i++ {
		if i < 0 {
			return
		}
	}
}

// runStalled tests a lock in three storms. Virtual time stands still in the second: whoever
// gets no answer from the node calls stop with a mutex that is locked.
func runStalled(t *testing.T, stop func(*sync.Mutex)) {
	locktest.WatchEvery(100 * time.Millisecond)
	c := locktest.Config{Nodes: 1, Runs: 1, Rounds: 10}
	for _, name := range []string{"calm", "node-stands-still", "holder-dies"} {
		c.Storms = append(c.Storms, stormOf(t, c, name))
	}
	c.Storms[1].Rounds = 100_000 // which nobody waits for once the run was abandoned
	locktest.Run(t, c, func(env locktest.Env) locktest.Locker {
		l, alone := onOneNode(env), new(sync.Mutex)
		alone.Lock()
		return locktest.LockerFunc(func(ctx context.Context, resource string) (locktest.Hold, error) {
			if err := l.client.Ping(ctx).Err(); err != nil {
				stop(alone) // in the user's code
			}
			return l.Lock(ctx, resource)
		})
	})
}

// overdue is a lock whose grants are over when they are made, which breaks C in any storm.
func overdue(env locktest.Env) locktest.Locker {
	l := onOneNode(env)
	return locktest.LockerFunc(func(ctx context.Context, resource string) (locktest.Hold, error) {
		hold, err := l.Lock(ctx, resource)
		hold.Until = time.Now().Add(-time.Second)
		return hold, err
	})
}

// overdueIn configures storms without faults for a lock that breaks C in any.
func overdueIn(c locktest.Config, storms ...string) locktest.Config {
	c.Name, c.Nodes, c.Rounds, c.Dir = "overdue", 1, 3, os.Getenv(inner+"_DIR")
	for _, name := range storms {
		c.Storms = append(c.Storms, locktest.Storm{Name: name})
	}
	return c
}

func runOverdue(t *testing.T, c locktest.Config, storms ...string) {
	locktest.Run(t, overdueIn(c, storms...), overdue)
}

// runTalkative logs outside of a run and in it, by each logger that can be reached.
func runTalkative(t *testing.T) {
	slog.SetDefault(slog.New(slog.NewTextHandler(os.Stderr, nil)))
	say := func(where string) {
		client := redis.NewClient(&redis.Options{DialerRetries: 1, MaxRetries: -1, Dialer: func(context.Context, string, string) (net.Conn, error) {
			return nil, errors.New(where + " by redis")
		}})
		_ = client.Ping(context.Background())
		_ = client.Close()
		log.Print(where + " by log")
		slog.Info(where + " by slog")
	}
	say("before, outside")
	locktest.Run(t, overdueIn(locktest.Config{}, "one"), func(env locktest.Env) locktest.Locker {
		say("inside")
		_, _ = fmt.Fprintln(env.Log(), "inside by env")
		return overdue(env)
	})
	say("after, outside")
}

// TestInner runs in its own process.
func TestInner(t *testing.T) {
	if name := os.Getenv(inner); name != "" {
		innerTests[name](t)
	}
}

// innerCommand returns the command that runs a test in its own process. It is killed after some
// minutes.
func innerCommand(t *testing.T, name, dir string, args ...string) *exec.Cmd {
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, os.Args[0], append([]string{"-test.run=^TestInner$", "-test.v"}, args...)...)
	cmd.Env = append(os.Environ(), inner+"="+name, inner+"_DIR="+dir)
	return cmd
}

// runInner runs a test that has to fail, and returns its output.
func runInner(t *testing.T, name, dir string, args ...string) string {
	t.Helper()
	text, err := innerCommand(t, name, dir, args...).CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		t.Fatalf("the test should have failed: %v\n%s", err, text)
	}
	return string(text)
}

// The screen shows of a failure at most so many lines, of so many columns unless it is a command.
const (
	maxLines   = 20
	maxColumns = 120
)

// shown returns the lines of a test's failure in an output, without their indentation.
func shown(t *testing.T, output, test string) []string {
	t.Helper()
	_, text, found := strings.Cut(output, "=== RUN   "+test+"\n")
	if !found {
		t.Fatalf("%s was not run\n%s", test, output)
	}
	text, _, _ = strings.Cut(text, "\n---")
	text, _, _ = strings.Cut(text, "\n===")
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	for _, line := range lines {
		if command := strings.Contains(line, "--") || strings.Contains(line, ":  ") || strings.Contains(line, "Stored: "); len(line) > maxColumns && !command {
			t.Errorf("%s: a line of %d columns: %s", test, len(line), line)
		}
	}
	return lines
}

// wantMatches checks that a text matches all patterns.
func wantMatches(t *testing.T, text string, patterns ...string) {
	t.Helper()
	for _, want := range patterns {
		if !regexp.MustCompile(want).MatchString(text) {
			t.Errorf("%s is missing in\n%s", want, text)
		}
	}
}

// stored returns the content of a file of a stored run.
func stored(t *testing.T, dir, name string) string {
	t.Helper()
	return testkit.Read(t, filepath.Join(dir, name))
}

// attribute returns what programs read of a test.
func attribute(t *testing.T, text, test string) (r external.Record) {
	t.Helper()
	_, value, _ := strings.Cut(text, "=== ATTR  "+test+" locktest ")
	if err := json.NewDecoder(strings.NewReader(value)).Decode(&r); err != nil {
		t.Errorf("%s has no attribute: %v\n%s", test, err, text)
	}
	return r
}

// A failure fits a screen: what happened, what it breaks, how often it recurs, and the commands that
// run it again and draw it. The rest is in a file of the stored run.
func TestFailureIsTold(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	text := runInner(t, "del", dir)
	at := regexp.QuoteMeta(filepath.Join(dir, "released-by-DEL", "holder-stands-still-memory-"))
	lines := shown(t, text, "TestInner/holder-stands-still")
	if len(lines) > maxLines {
		t.Errorf("the failure has %d lines: want at most %d\n%s", len(lines), maxLines, text)
	}
	wantMatches(t, text, `--- PASS: TestInner/calm`, `--- FAIL: TestInner/holder-stands-still`)
	r := attribute(t, text, "TestInner/holder-stands-still")
	wantMatches(t, r.Reason, `^A hold's key is deleted or extended, and not by its holder: a request of client \d deleted it: C \(contract\) is violated, by the lock released by DEL, seed \d(, \d times)?$`)
	wantMatches(t, r.Story, `^Node 1 deleted the key of "invoice-7" `)
	wantMatches(t, r.Dir, `^`+at+`\d$`)
	if r.Storm != "holder-stands-still" || r.Verdict != "contradiction" || r.File != "failure_test.go" {
		t.Errorf("programs read %+v", r)
	}
	wantMatches(t, strings.Join(lines, "\n"),
		`failure_test.go:\d+: A hold's key is deleted or extended, and not by its holder: a request of client \d deleted it\.`,
		`C \(contract\) is violated, by the lock released by DEL, seed \d`, `Storm holder-stands-still: a client is paused`,
		`Node 1 deleted the key of "invoice-7" .* for client \d, while client \d held`,
		`Broken by the lock's own requests: nobody but the holder`,
		`It recurs in \d of 3 re-runs \(95 % interval: \[.*\] %\)\.`,
		`(?m)^ *`+regexp.QuoteMeta(external.KnownCauses)+`$`,
		`Again:  go test -v -run '\^TestInner\$/\^holder-stands-still\$' -locktest.witness=`+at+`\d`,
		`Page:   lockstorm report `+at+`\d`,
		`Stored: `+at+`\d, with story and plan in failure\.txt`,
	)
	runs, _ := filepath.Glob(filepath.Join(dir, "released-by-DEL", "*"))
	if len(runs) != 1 {
		t.Fatalf("stored are %q", runs)
	}
	wantMatches(t, stored(t, runs[0], "failure.txt"),
		`Node 1 deleted the key of "invoice-7" .* for client \d, while client \d held the lock`,
		`(?s)plan:\n.*- pause:\n.*client: 1\n.*after: 3.75s`, `C promises: calls return`, `It recurs in \d of 3`, `\tlockstorm report \.\n`, `\tgo test -v -run `,
		`\n`+regexp.QuoteMeta(external.KnownCauses)+`\n`,
	)
	wantReadable(t, runs[0])
	run, err := results.Load(runs[0])
	if err != nil {
		t.Fatal(err)
	}
	if j := run.Judged; j == nil || len(j.Failed) == 0 || j.Failed[0] != checker.Contract {
		t.Errorf("run.json says %+v of the promises: want that contract failed the test", j)
	}
	again := runInner(t, "del", dir, "-test.run=^TestInner$/^holder-stands-still$", "-locktest.witness="+runs[0], "-locktest.reruns=4")
	if want := regexp.MustCompile(`failure_test.go:\d+: C \(contract\) was violated, and recurs in [1-4] of 4 re-runs`); !want.MatchString(again) || strings.Contains(again, "/calm") {
		t.Errorf("the witness tells\n%s", again)
	}
	for args, said := range map[string]string{
		"-test.run=^TestInner$/^calm$ -locktest.witness=" + runs[0]: "is a run of the storm holder-stands-still, which -run or -skip leaves out: nothing was run",
		"-locktest.witness=" + filepath.Join(dir, "nowhere"):        "nowhere: no such directory (paths are relative to the directory of the test)",
	} {
		if again := runInner(t, "del", dir, strings.Fields(args)...); !strings.Contains(again, said) {
			t.Errorf("%s: want %q in\n%s", args, said, again)
		}
	}
	if strings.Contains(again, "V1 (lease exclusion)") { // who stood still without an Until: that was a limit
		t.Errorf("the witness fails by what was a limit\n%s", again)
	}
}

// Law: a failure that looks like that of an earlier storm is shown in two lines and not run again.
// Its run is stored all the same.
func TestSameFailureIsToldOnce(t *testing.T) {
	dir := t.TempDir()
	text := runInner(t, "three storms", dir)
	full, short := 0, 0
	for _, storm := range []string{"one", "two", "three"} {
		lines := shown(t, text, "TestInner/"+storm)
		all := strings.Join(lines, "\n")
		wantMatches(t, all, `C \(contract\) is violated`)
		if strings.Contains(all, "It recurs in ") {
			full++
			wantMatches(t, all, `Client \d got a grant of`, `Again:  go test -v -run `, `Stored: \S+, with story`)
			continue
		}
		short++
		wantMatches(t, all, `(?s), as in storm one\..*Stored in \S+/`+storm+`-memory-1$`)
		if len(lines) != 2 {
			t.Errorf("%s: %d lines for a failure that is known", storm, len(lines))
		}
	}
	if full != 1 || short != 2 {
		t.Errorf("%d failures were shown in full, %d in short", full, short)
	}
	if runs, _ := filepath.Glob(filepath.Join(dir, "*", "*", "failure.txt")); len(runs) != 3 {
		t.Errorf("stored are %q", runs)
	}
}

// Law: what is logged by goroutines of a run is in the file client.log of its stored run, and nowhere
// else. What is logged outside of a run goes where it went before.
func TestClientLogIsStored(t *testing.T) {
	dir := t.TempDir()
	text := runInner(t, "talkative", dir)
	runs, _ := filepath.Glob(filepath.Join(dir, "*", "*"))
	if len(runs) != 1 {
		t.Fatalf("stored are %q\n%s", runs, text)
	}
	logged := stored(t, runs[0], "client.log")
	for _, by := range []string{"redis", "log", "slog", "env"} {
		wantMatches(t, logged, `inside by `+by+`\b`)
		if strings.Contains(logged, "outside by "+by) {
			t.Errorf("the stored log has a line from outside of the run:\n%s", logged)
		}
		if by != "env" {
			wantMatches(t, text, `before, outside by `+by, `after, outside by `+by)
		}
	}
	if strings.Contains(text, "inside by") {
		t.Errorf("a line of the client library is shown:\n%s", text)
	}
	wantMatches(t, logged, `redis: 2000/01/01 \S+ pool\.go:\d+: .*inside by redis`)
	wantMatches(t, text, `redis: 20\d\d/\S+ \S+ pool\.go:\d+: .*before, outside by redis`)
}

// Law: who interrupts the test while a failure is run again loses nothing: the run and all that is
// known of it are stored already.
func TestInterruptedTestHasStoredItsFailure(t *testing.T) {
	dir := t.TempDir()
	cmd := innerCommand(t, "endless", dir)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Wait() }()
	defer func() { _ = cmd.Process.Kill() }()
	var files []string
	for len(files) == 0 && t.Context().Err() == nil { // the time limit of the command ends this
		time.Sleep(10 * time.Millisecond)
		if files, _ = filepath.Glob(filepath.Join(dir, "*", "*", "failure.txt")); cmd.ProcessState != nil {
			t.Fatal("the test has ended")
		}
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	wantMatches(t, stored(t, filepath.Dir(files[0]), "failure.txt"), `C \(contract\) is violated`, `The plan:`, `The test ended before the run was run again\.`, `\tgo test -v -run `)
	if _, err := results.Load(filepath.Dir(files[0])); err != nil {
		t.Error(err)
	}
}

// Law: of a generated plan that fails only the faults that matter are told: here the pause of
// a holder. The run that is told and stored is one of the smaller plan, unless the flag says
// that plans are not shrunk. The run of the whole plan is stored as well.
func TestDrawnPlanIsShrunk(t *testing.T) {
	t.Parallel()
	at := regexp.MustCompile(`Stored: (\S+), with`)
	for args, faults := range map[string][]string{
		"":                   {"pause"},
		"-locktest.shrink=0": {"pause", "node-pause", "cancel", "latency"},
	} {
		text := runInner(t, "drawn", t.TempDir(), strings.Fields(args)...)
		dir := at.FindStringSubmatch(text)
		if dir == nil {
			t.Fatalf("%q: nothing is stored\n%s", args, text)
		}
		told := stored(t, dir[1], "failure.txt")
		for _, kind := range []string{"pause", "node-pause", "cancel", "latency"} {
			if has := strings.Contains(told, "- "+kind+":"); has != slices.Contains(faults, kind) {
				t.Errorf("%q: fault %s is told: %v\n%s", args, kind, has, told)
			}
		}
		if shrunk := regexp.MustCompile(`The plan that was generated had [45] faults; [34] of them do not matter and were removed \(\d+ runs\)\.`).MatchString(told); shrunk != (args == "") {
			t.Errorf("%q: the plan is said to be shrunk: %v\n%s", args, shrunk, told)
		}
		if run, err := results.Load(dir[1]); err != nil || len(run.Scenario.Plan) < len(faults) || args == "" && len(run.Scenario.Plan) != 1 {
			t.Errorf("%q: the stored run has the plan %v: %v", args, run.Scenario.Plan, err)
		}
		if whole, err := results.Load(strings.TrimSuffix(dir[1], "-shrunk")); err != nil || len(whole.Scenario.Plan) < 4 {
			t.Errorf("%q: the run of the whole plan is not stored: %v", args, err)
		}
	}
}

// wantReadable checks that a stored run gets the same verdicts again without knowledge of
// its lock.
func wantReadable(t *testing.T, dir string) {
	t.Helper()
	run, err := results.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.Open(filepath.Join(dir, results.HistoryFile))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = text.Close() }()
	header, report, err := results.Judge(text)
	if err != nil || header.Lock != "released by DEL" || run.Scenario.Lock.Kind != header.Lock || !reflect.DeepEqual(report.Verdicts(), run.Verdicts) {
		t.Errorf("%s of %s is judged %v, and was %v: %v", header.Lock, run.Scenario.Lock.Kind, report.Verdicts(), run.Verdicts, err)
	}
}

// A lock that cannot be built and an invalid configuration are reported as such.
func TestWhatCannotBeIsTold(t *testing.T) {
	t.Parallel()
	for name, wants := range map[string][]string{
		"fatal":  {"no lock today", "client 1: the function that makes the lock has ended its goroutine, as t.Fatal does", "storms more not tried"},
		"within": {"locktest: called within a run, or another bubble of testing/synctest"},
		"none":   {"locktest: the function that makes the lock is nil"},
		"handshakes": {
			"virtual time has stood still for ", "_test.go:", "and the run was abandoned: a goroutine of the lock waits for a mutex", "MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}",
			"storms more not tried",
		},
		"nodes": {"locktest.Config.Nodes: 65: want 1 to 64"},
	} {
		text := runInner(t, name, t.TempDir())
		for _, want := range wants {
			if !strings.Contains(text, want) {
				t.Errorf("%s: %q is missing in\n%s", name, want, text)
			}
		}
	}
}

// Law: a run in which virtual time stands still fails its own storm. The others keep their
// verdicts, and the failure names the line of the user's code and the plan. When such runs
// have cost enough, the storms that are left are listed as not run.
func TestStandstillFailsOneStorm(t *testing.T) {
	const stood = `virtual time has stood still for [\d.]+s in \w+_test\.go:\d+ \(locktest_test\..*\), and the run was abandoned: a goroutine of the lock `
	for name, wants := range map[string][]string{
		"mutex":    {stood + `waits for a mutex \(sync\.Mutex\.Lock\)`, `--- PASS: TestInner/holder-dies`},
		"loop":     {stood + `runs without a pause`, `--- PASS: TestInner/holder-dies`},
		"wakes":    {stood + `waits for something outside the run`, `--- PASS: TestInner/holder-dies`, `all goroutines have ended`},
		"too many": {`virtual time stood still in 1 run of this program, which is enough: not run: holder-dies`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // each waits in a process of its own
			text := runInner(t, name, t.TempDir())
			wantMatches(t, text, append(wants, `--- PASS: TestInner/calm`, `--- FAIL: TestInner/node-stands-still`, `- node-pause:`, `FAIL\n$`)...)
			if strings.Contains(text, "panic:") {
				t.Errorf("the test binary panics\n%s", text)
			}
		})
	}
}

// Misuse of the kit is an error with the client, and not a verdict.
func TestWhatNoLockMayIsTold(t *testing.T) {
	for name, c := range map[string]struct {
		config locktest.Config
		make   func(locktest.Env) locktest.Locker
		want   []string
	}{
		"no release": {
			make: func(locktest.Env) locktest.Locker {
				return locktest.LockerFunc(func(context.Context, string) (locktest.Hold, error) { return locktest.Hold{}, nil })
			},
			want: []string{"seed 1: client ", ": Lock has returned a Hold without Release"},
		},
		"no extension": {
			config: locktest.Config{Extend: time.Hour}, // no hold lasts so long
			make: func(env locktest.Env) locktest.Locker {
				l := onOneNode(env)
				return locktest.LockerFunc(func(ctx context.Context, resource string) (locktest.Hold, error) {
					h, err := l.Lock(ctx, resource)
					h.Extend = nil
					return h, err
				})
			},
			want: []string{"Config.Extend is set, and Lock has returned a Hold without Extend"},
		},
		"panic": {
			make: func(env locktest.Env) locktest.Locker {
				return locktest.LockerFunc(func(context.Context, string) (locktest.Hold, error) { panic("ouch") })
			},
			want: []string{"client ", "main: panic: ouch"},
		},
		"never": {
			make: func(locktest.Env) locktest.Locker { select {} },
			want: []string{"client 1: the function that makes the lock has not returned after 1m0s"},
		},
		"nil": {
			make: func(locktest.Env) locktest.Locker { return nil },
			want: []string{"client 1: the function that makes the lock has returned nil"},
		},
		"left behind": {
			make: func(env locktest.Env) locktest.Locker {
				go func() { select {} }()
				return onOneNode(env)
			},
			want: []string{"goroutines of the lock are left behind", "env.Cleanup", "failure_test.go"},
		},
		"deaf": {
			make: func(env locktest.Env) locktest.Locker {
				return locktest.LockerFunc(func(context.Context, string) (locktest.Hold, error) { select {} })
			},
			want: []string{"client 1, client 2 and client 3: Lock has not returned, though its context has ended", "wait here:\n\n3 goroutines", "failure_test.go"},
		},
		"deaf release": {
			make: func(env locktest.Env) locktest.Locker {
				return locktest.LockerFunc(func(ctx context.Context, key string) (locktest.Hold, error) {
					h, err := onOneNode(env).Lock(ctx, key)
					h.Release = func(context.Context) error { select {} }
					return h, err
				})
			},
			want: []string{"client 1, client 2 and client 3: Hold.Release has not returned", "wait here:\n\n3 goroutines"},
		},
		"cleanup that does not return": {
			make: func(env locktest.Env) locktest.Locker {
				env.Cleanup(func() error { select {} })
				return onOneNode(env)
			},
			want: []string{"client 1: a function passed to Cleanup has not returned"},
		},
		"by another way": {
			make: func(env locktest.Env) locktest.Locker {
				client := redis.NewClient(&redis.Options{Addr: env.Addrs[0]})
				env.Cleanup(client.Close)
				return &oneNode{client: client, owner: "astray", ttl: env.TTL}
			},
			want: []string{"client 1 has called Lock 3 times without using env.Dial"},
		},
		"a clock that cannot be wrong": {
			make: func(env locktest.Env) locktest.Locker { return onOneNode(env) },
			want: []string{"clock-rate of a client cannot change"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			c.config.Nodes, c.config.Rounds = 1, 3
			storm := stormOf(t, c.config, "calm")
			if strings.Contains(name, "clock") {
				storm = loaded(t, "name: wrong\nplan: [{clock-rate: {client: 1, ppm: 1000}, start: {at: 0s}}]")
			}
			tried := locktest.Try(t, c.config, storm, 1, c.make)
			if tried.Err == nil {
				t.Fatal("there was no error")
			}
			for _, want := range c.want {
				if !strings.Contains(tried.Err.Error(), want) {
					t.Errorf("%q is missing in: %v", want, tried.Err)
				}
			}
		})
	}
}

// loaded loads a storm from a text.
func loaded(t *testing.T, text string) locktest.Storm {
	t.Helper()
	path := filepath.Join(t.TempDir(), "storm.yaml")
	testkit.Write(t, path, text)
	s, err := locktest.LoadStorm(path)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
