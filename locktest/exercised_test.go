package locktest_test

import (
	"context"
	"errors"
	"os/exec"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/locktest"
)

// watchdog is a lock that renews its holds by itself. Its grants have no end of validity.
type watchdog struct {
	*oneNode
	plain    bool // renews whoever's key it is, and reports no loss
	renewals int  // of a hold; 0: no limit
	hopeful  bool // counts from the answer to a renewal, and reports the loss late
	deaf     bool // does not hear that the key is gone
}

func (w watchdog) Lock(ctx context.Context, resource string) (locktest.Hold, error) {
	h, err := w.oneNode.Lock(ctx, resource)
	if err != nil {
		return h, err
	}
	life, end := context.WithCancel(context.Background())
	lost := make(chan struct{})
	var running sync.WaitGroup
	inner := h
	running.Go(func() { w.renew(life, resource, inner, lost) })
	h.Until, h.Extend, h.Lost = time.Time{}, nil, lost
	h.Release = func(ctx context.Context) error {
		end()
		running.Wait()
		return inner.Release(ctx)
	}
	return h, nil
}

// renew renews a hold until its life ends. A right watchdog reports the loss before the key can be gone.
func (w watchdog) renew(life context.Context, resource string, h locktest.Hold, lost chan struct{}) {
	until, margin := h.Until, w.ttl/2
	if w.hopeful {
		margin = w.ttl / 4
	}
	for n := 1; w.renewals == 0 || n <= w.renewals; n++ {
		select {
		case <-life.Done():
			return
		case <-time.After(w.ttl / 4):
		}
		if w.plain {
			w.client.PExpire(life, resource, w.ttl)
			continue
		}
		call, stop := context.WithTimeout(life, w.ttl/4)
		next, err := h.Extend(call)
		if w.hopeful {
			next = time.Now().Add(w.ttl)
		}
		if stop(); err == nil || w.deaf && errors.Is(err, locktest.ErrNotHeld) {
			until = next
		} else if errors.Is(err, locktest.ErrNotHeld) || time.Until(until) <= margin {
			close(lost)
			return
		}
	}
}

// brokenIn returns the promises that some of so many runs of a storm break.
func brokenIn(t *testing.T, c locktest.Config, storm string, runs uint64, open func(locktest.Env) locktest.Locker) (broken []checker.Property) {
	t.Helper()
	for seed := uint64(1); seed <= runs; seed++ {
		tried := locktest.Try(t, c, stormOf(t, c, storm), seed, open)
		if tried.Err != nil {
			t.Fatal(tried.Err)
		}
		for _, f := range tried.Broken {
			t.Logf("%s, seed %d: %s: %s", storm, seed, f.Property.Code(), f.Story())
			broken = append(broken, f.Property)
		}
	}
	slices.Sort(broken)
	return slices.Compact(broken)
}

// anExtension is a lock that is held until a time that holders can extend.
func anExtension(change func(*oneNode)) func(locktest.Env) locktest.Locker {
	return func(env locktest.Env) locktest.Locker {
		l := onOneNode(env)
		change(l)
		return l
	}
}

// aWatchdog is a lock that renews itself.
func aWatchdog(w watchdog) func(locktest.Env) locktest.Locker {
	return func(env locktest.Env) locktest.Locker {
		w := w
		w.oneNode = onOneNode(env)
		return w
	}
}

// Law: the default storms find, without any setting, defects that only holds beyond the TTL, lost
// holds and odd TTLs show.
func TestLongHoldsAreTriedByDefault(t *testing.T) {
	for name, c := range map[string]struct {
		storm string
		open  func(locktest.Env) locktest.Locker
	}{
		"a watchdog that reports no loss":    {"holder-cut-off", aWatchdog(watchdog{plain: true})},
		"a watchdog that stops":              {"long-work", aWatchdog(watchdog{plain: true, renewals: 2})},
		"an extension that is none":          {"long-work", anExtension(func(l *oneNode) { l.hollow = true })},
		"an extension of whoever's key":      {"extender-stands-still", anExtension(func(l *oneNode) { l.anybody = true })},
		"an end of validity that no key has": {"long-work", anExtension(func(l *oneNode) { l.endless = true; l.hollow = true })},
		"a TTL that is cut to whole seconds": {"fractional-ttl", anExtension(func(l *oneNode) { l.seconds = true })},
	} {
		t.Run(name, func(t *testing.T) {
			config := locktest.Config{Nodes: 1}
			if broken := brokenIn(t, config, c.storm, 5, c.open); !slices.Contains(broken, checker.Lease) {
				t.Errorf("%s breaks %v: want V1", c.storm, broken)
			}
			if broken := brokenIn(t, config, "calm", 1, c.open); slices.Contains(broken, checker.Lease) {
				t.Errorf("calm breaks %v: want no V1", broken)
			}
		})
	}
}

// withoutExtend is a correct lock whose holds end with their validity.
func withoutExtend(env locktest.Env) locktest.Locker {
	l := onOneNode(env)
	return locktest.LockerFunc(func(ctx context.Context, resource string) (locktest.Hold, error) {
		h, err := l.Lock(ctx, resource)
		h.Extend = nil
		return h, err
	})
}

// Law: none of the storms with long work blames a correct lock for holding longer than it claims, also
// not one of which V2 and V3 are requested: a client stops before the end of what the lock claims.
func TestLongHoldsBlameNoCorrectLock(t *testing.T) {
	all := []checker.Property{checker.Lease, checker.Section, checker.Effect, checker.DeadlockFreedom, checker.Contract}
	for name, open := range map[string]func(locktest.Env) locktest.Locker{
		"that ends":            withoutExtend,
		"that can be extended": anExtension(func(*oneNode) {}),
		"that renews itself":   aWatchdog(watchdog{}),
		"that reports losses":  func(env locktest.Env) locktest.Locker { return lossReporter{onOneNode(env), 0} },
	} {
		t.Run(name, func(t *testing.T) {
			for _, storm := range []string{"long-work", "fractional-ttl", "holder-cut-off", "extender-stands-still", "scripts-are-forgotten"} {
				c := locktest.Config{Nodes: 1, Promises: all}
				if broken := brokenIn(t, c, storm, 1, open); len(broken) > 0 {
					t.Errorf("%s breaks %v", storm, broken)
				}
			}
		})
	}
}

// Law: a key that is left behind breaks a promise of every lock where no message is lost and nobody
// dies, and elsewhere on request only.
func TestKeysLeftInCalmBreakAPromise(t *testing.T) {
	open := func(env locktest.Env) locktest.Locker {
		l := onAllNodes(env)
		l.litters = true
		return l
	}
	c := locktest.Config{Nodes: 4, Rounds: 10, Patience: 300 * time.Millisecond}
	for storm, want := range map[string]bool{"contention": true, "holder-stands-still": true, "holder-dies": false, "majority-cut-off": false} {
		storm := stormOf(t, c, storm)
		storm.Think = time.Millisecond // so that the clients compete
		tried := locktest.Try(t, c, storm, 1, open)
		if tried.Err != nil {
			t.Fatal(tried.Err)
		}
		is := func(f checker.Finding) bool { return f.Property == checker.Cleanup }
		if broken := slices.ContainsFunc(tried.Broken, is); broken != want || !want && !slices.ContainsFunc(tried.Limits, is) {
			t.Errorf("%s: L3 is broken: %v, want %v; limits %v", storm.Name, broken, want, tried.Limits)
		}
	}
	if broken := brokenIn(t, locktest.Config{Nodes: 1}, "scripts-are-forgotten", 5, anExtension(func(l *oneNode) { l.loadsOnce = true })); !slices.Contains(broken, checker.Cleanup) {
		t.Errorf("a lock that loads a script once breaks %v: want L3", broken)
	}
}

// inStorms runs a lock on one node in some storms, in a process of its own.
func inStorms(c locktest.Config, open func(locktest.Env) locktest.Locker) func(t *testing.T) {
	return func(t *testing.T) {
		c.Nodes, c.Rounds, c.Dir, c.Again = 1, 3, t.TempDir(), -1
		locktest.Run(t, c, open)
	}
}

// refuses is a lock that never grants. With a token it sets the key all the same.
func refuses(token string) func(locktest.Env) locktest.Locker {
	return func(env locktest.Env) locktest.Locker {
		l := onOneNode(env)
		return locktest.LockerFunc(func(ctx context.Context, resource string) (locktest.Hold, error) {
			if token != "" {
				_ = l.set(ctx, resource, token)
			}
			return locktest.Hold{}, errors.Join(errTaken, l.client.Ping(ctx).Err())
		})
	}
}

// output runs an inner test and returns its output and whether it has passed.
func output(t *testing.T, name string, verbose bool) (text string, passed bool) {
	t.Helper()
	cmd := innerCommand(t, name, t.TempDir())
	if !verbose {
		cmd.Args = slices.DeleteFunc(cmd.Args, func(arg string) bool { return arg == "-test.v" })
	}
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return string(out), err == nil
}

// Law: a lock that never grants fails without faults, with its own error, and what follows is not
// tried, whatever else is wrong with it.
func TestLockThatNeverGrants(t *testing.T) {
	for name, want := range map[string]string{
		"never grants":                `(?s)nobody was granted the lock in 1 run: 9 calls of Lock failed, the last one with: somebody else holds it.*L1 \(deadlock freedom\) is violated`,
		"never grants, and sets keys": `(?s)nobody was granted the lock in 1 run: 9 calls of Lock failed, the last one with: somebody else holds it.*Violated, too: L3 \(clean-up\)`,
	} {
		text, passed := output(t, name, true)
		wantMatches(t, text, want, `--- FAIL: TestInner/calm`, `failed without any fault: 1 storm more not tried`)
		if passed {
			t.Errorf("%s: the test has passed", name)
		}
	}
}

// Law: without faults a lock fails whose extensions all fail, or whose holds are all lost. Other storms are tried.
func TestLockThatNeverKeepsAHold(t *testing.T) {
	for name, want := range map[string]string{
		"never extends": `no hold was extended in 3 runs: \d+ calls of Extend failed, the last one with: the lock is not held any more`,
		"never renews":  `no hold was renewed in 3 runs: the lock gave no end, and reported a loss, of \d+ holds, none of which was longer than the TTL`,
	} {
		text, passed := output(t, name, true)
		wantMatches(t, text, want, `--- FAIL: TestInner/long`, `--- PASS: TestInner/calm`)
		if passed {
			t.Errorf("%s: the test has passed", name)
		}
	}
}

// Law: a storm in which nobody is granted the lock, or nothing that is promised can be violated, is
// undecided and says so.
func TestStormThatJudgesNothing(t *testing.T) {
	for name, want := range map[string]string{
		"cut off for good": `=== ATTR\s+TestInner/cut-off locktest {.*"reason":"[^"]*nobody`,
		"no fences":        `=== ATTR\s+TestInner/calm locktest {.*"reason":"no run could violate what is promised`,
	} {
		text, passed := output(t, name, true)
		wantMatches(t, text, want, `undecided, which is not a pass: `, `--- SKIP: TestInner/`, `; undecided: c`)
		if !passed {
			t.Errorf("%s: the test has failed", name)
		}
	}
}

// Law: an accepted weakness does not fail the test. One that does not occur does, and so does one
// of a storm that there is not.
func TestAcceptedWeakness(t *testing.T) {
	for name, want := range map[string][]string{
		"accepted":         {`limit: C \(contract\) was violated in 3/3 runs, which Config\.Accept accepts: as agreed`, `--- PASS: TestInner/one`},
		"accepted no more": {`C \(contract\) is violated no more, in 3 runs: take it from Config\.Accept \(as agreed\)`, `--- FAIL: TestInner/one`},
		"accepted nowhere": {`locktest\.Config\.Accept\[0\]: there is no storm "two": want one of one`},
	} {
		text, passed := output(t, name, true)
		wantMatches(t, text, want...)
		if passed != (name == "accepted") {
			t.Errorf("%s: passed: %v", name, passed)
		}
	}
}

// lying is a lock whose every release reports that the lock was not held.
func lying(env locktest.Env) locktest.Locker {
	l := onOneNode(env)
	return locktest.LockerFunc(func(ctx context.Context, resource string) (locktest.Hold, error) {
		h, err := l.Lock(ctx, resource)
		release := h.Release
		h.Release = func(ctx context.Context) error { return errors.Join(release(ctx), locktest.ErrNotHeld) }
		return h, err
	})
}

// Law: a test that passes says in one line what was tried and what was not, also without -v, names violations that
// only the list of promises leaves out, and warns of a client that starves.
func TestLastLine(t *testing.T) {
	for name, want := range map[string]string{
		"extending": `(?m)^TestInner: \d+ grants in 3 runs of 1 storm, \d+ calls of Extend, \d+ holds beyond the TTL; not exercised: notices of a loss, ended contexts, grants to callers that share a lock, grants of confusing names, runs with client clocks, generated faults$`,
		"lying":     `(?m)^TestInner: \d+ grants in 3 runs of 1 storm; violated, but not promised: C in calm; not exercised: calls of Extend, `,
		"starving":  `(?m)^TestInner: .*; warning: in contention, client 3 was refused \d+ times in a row, for [0-9.m]+s, while others were granted the lock: \d+ of \d+ refusals without a fault were of its calls$`,
	} {
		text, passed := output(t, name, false)
		wantMatches(t, text, want)
		if !passed {
			t.Errorf("%s: the test has failed", name)
		}
	}
}
