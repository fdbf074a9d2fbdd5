package locktest_test

import (
	"context"
	"errors"
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
		locktest.ShrinkWithin(10 * time.Minute)
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
		c := locktest.Config{Name: "drawn", Nodes: 1, Again: 3, Dir: os.Getenv(inner + "_DIR"), Storms: []locktest.Storm{pause}}
		locktest.Run(t, c, func(env locktest.Env) locktest.Locker {
			l := onOneNode(env)
			l.plainDel, l.endless = true, true
			return l
		})
	},
	"fatal": func(t *testing.T) {
		locktest.Run(t, locktest.Config{}, func(locktest.Env) locktest.Locker {
			t.Fatal("no lock today")
			return nil
		})
	},
	"mutex":    func(t *testing.T) { runStalled(t, (*sync.Mutex).Lock) },
	"loop":     func(t *testing.T) { runStalled(t, func(*sync.Mutex) { loop() }) },
	"outside":  func(t *testing.T) { runStalled(t, func(*sync.Mutex) { <-outside }) },
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
	"none":  func(t *testing.T) { locktest.Run(t, locktest.Config{}, nil) },
	"nodes": func(t *testing.T) { locktest.Run(t, locktest.Config{Nodes: 65}, nil) },
	"missing": func(t *testing.T) {
		locktest.Run(t, locktest.Config{Backend: locktest.Process, Store: shop}, func(env locktest.Env) locktest.Locker { return onOneNode(env) })
	},
}

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

// TestInner runs in its own process.
func TestInner(t *testing.T) {
	if name := os.Getenv(inner); name != "" {
		innerTests[name](t)
	}
}

// runInner runs a test that has to fail, and returns its output.
func runInner(t *testing.T, name, dir string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0], append([]string{"-test.run=^TestInner$", "-test.v"}, args...)...)
	cmd.Env = append(os.Environ(), inner+"="+name, inner+"_DIR="+dir)
	text, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		t.Fatalf("the test should have failed: %v\n%s", err, text)
	}
	return string(text)
}

// A failure has the story, the plan, the seed and how often it recurs. It stores the run,
// and names the commands that draw it and that run it again.
func TestFailureIsTold(t *testing.T) {
	dir := t.TempDir()
	text := runInner(t, "del", dir)
	stored := filepath.Join(dir, "released-by-DEL", "holder-stands-still-memory-")
	for _, want := range []string{
		`--- PASS: TestInner/calm`,
		`--- FAIL: TestInner/holder-stands-still`,
		`failure_test.go:\d+: C \(contract\) is violated, by the lock released by DEL, seed \d`,
		`Node 1 deleted the key of "invoice-7" .* for client \d, while client \d held the lock`,
		`(?s)plan:\n.*- pause:\n.*client: 1\n.*after: 3s`,
		`Stored in ` + regexp.QuoteMeta(stored) + `\d: run.json, history.jsonl, this text\.`,
		`\tlockstorm report ` + regexp.QuoteMeta(stored) + `\d`,
		`It recurs in \d of 3 re-runs \(95 % interval: \[.*\] %\)`,
		`go test -run '\^TestInner\$/\^holder-stands-still\$' -locktest.witness=` + regexp.QuoteMeta(stored),
	} {
		if !regexp.MustCompile(want).MatchString(text) {
			t.Errorf("%s is missing in\n%s", want, text)
		}
	}
	runs, _ := filepath.Glob(stored + "*")
	if len(runs) != 1 {
		t.Fatalf("stored are %q", runs)
	}
	for _, name := range []string{"run.json", "history.jsonl", "failure.txt"} {
		if info, err := os.Stat(filepath.Join(runs[0], name)); err != nil || info.Size() < 500 {
			t.Errorf("%s: %v", name, err)
		}
	}
	wantReadable(t, runs[0])
	again := runInner(t, "del", dir, "-test.run=^TestInner$/^holder-stands-still$", "-locktest.witness="+runs[0], "-locktest.reruns=4")
	if want := regexp.MustCompile(`failure_test.go:\d+: C \(contract\) was violated, and recurs in [1-4] of 4 re-runs`); !want.MatchString(again) || strings.Contains(again, "/calm") {
		t.Errorf("the witness tells\n%s", again)
	}
	if strings.Contains(again, "V1 (lease exclusion)") { // who stood still without an Until: that was a limit
		t.Errorf("the witness fails by what was a limit\n%s", again)
	}
}

// Law: of a generated plan that fails only the faults that matter are told: here the pause of
// a holder. The run that is told and stored is one of the smaller plan, unless the flag says
// that plans are not shrunk.
func TestDrawnPlanIsShrunk(t *testing.T) {
	stored := regexp.MustCompile(`Stored in (\S+): run\.json`)
	for args, faults := range map[string][]string{
		"":                   {"pause"},
		"-locktest.shrink=0": {"pause", "node-pause", "cancel", "latency"},
	} {
		text := runInner(t, "drawn", t.TempDir(), strings.Fields(args)...)
		_, plan, _ := strings.Cut(text, "The plan:")
		plan, _, _ = strings.Cut(plan, "Stored in")
		for _, kind := range []string{"pause", "node-pause", "cancel", "latency"} {
			if told := strings.Contains(plan, "- "+kind+":"); told != slices.Contains(faults, kind) {
				t.Errorf("%q: fault %s is told: %v\n%s", args, kind, told, text)
			}
		}
		if shrunk := regexp.MustCompile(`The plan that was generated had [45] faults; [34] of them do not matter and were removed \(\d+ runs\)\.`).MatchString(plan); shrunk != (args == "") {
			t.Errorf("%q: the plan is said to be shrunk: %v\n%s", args, shrunk, text)
		}
		dir := stored.FindStringSubmatch(text)
		if dir == nil {
			t.Fatalf("%q: nothing is stored\n%s", args, text)
		}
		if run, err := results.Load(dir[1]); err != nil || len(run.Scenario.Plan) < len(faults) || args == "" && len(run.Scenario.Plan) != 1 {
			t.Errorf("%q: the stored run has the plan %v: %v", args, run.Scenario.Plan, err)
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
	for name, wants := range map[string][]string{
		"fatal":  {"no lock today", "client 1: the function that makes the lock has ended its goroutine, as t.Fatal does", "without any fault: 17 storms more not tried"},
		"within": {"locktest: called within a run, or another bubble of testing/synctest"},
		"none":   {"locktest: the function that makes the lock is nil"},
		"handshakes": {
			"virtual time has stood still for ", "_test.go:", "and the run was abandoned: a goroutine of the lock waits for a mutex", "MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}",
			"without any fault: 14 storms more not tried",
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
		"outside":  {stood + `waits for something outside the run \(chan receive\)`, `--- PASS: TestInner/holder-dies`},
		"wakes":    {stood + `waits for something outside the run`, `--- PASS: TestInner/holder-dies`, `all goroutines have ended`},
		"too many": {`virtual time stood still in 1 run of this program, which is enough: not run: holder-dies`},
	} {
		text := runInner(t, name, t.TempDir())
		wants = append(wants, `--- PASS: TestInner/calm`, `--- FAIL: TestInner/node-stands-still`, `- node-pause:`, `FAIL\n$`)
		for _, want := range wants {
			if !regexp.MustCompile(want).MatchString(text) {
				t.Errorf("%s: %s is missing in\n%s", name, want, text)
			}
		}
		if strings.Contains(text, "panic:") {
			t.Errorf("%s: the test binary panics\n%s", name, text)
		}
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
		"panic in the making": {
			make: func(locktest.Env) locktest.Locker { panic("ouch") },
			want: []string{"client 1: the function that makes the lock panics: ouch", "failure_test.go"},
		},
		"error in the making": {
			make: func(env locktest.Env) locktest.Locker {
				env.Must(errors.New("no such script"))
				return nil
			},
			want: []string{"client 1: no such script"},
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
			want: []string{"client 1: Lock has not returned, though its context has ended", "failure_test.go"},
		},
		"cleanup that does not return": {
			make: func(env locktest.Env) locktest.Locker {
				env.Cleanup(func() error { select {} })
				return onOneNode(env)
			},
			want: []string{"client 1: a function passed to Cleanup has not returned"},
		},
		"cleanup that panics": {
			make: func(env locktest.Env) locktest.Locker {
				env.Cleanup(nil)
				return onOneNode(env)
			},
			want: []string{"client 1: a function passed to Cleanup panics: "},
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
			want: []string{"clock-jump of a client cannot change"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			c.config.Nodes, c.config.Rounds = 1, 3
			storm := stormOf(t, c.config, "calm")
			if strings.Contains(name, "clock") {
				storm = loaded(t, "name: wrong\nplan: [{clock-jump: {client: 1, by: 1s}, start: {at: 0s}}]")
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
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := locktest.LoadStorm(path)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
