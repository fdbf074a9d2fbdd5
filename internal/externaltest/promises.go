package externaltest

import (
	"context"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/locktest"
)

// Named returns the configuration with those of its default storms.
func Named(t *testing.T, c locktest.Config, names ...string) locktest.Config {
	t.Helper()
	c.Drawn, c.Storms = -1, nil
	all := locktest.Storms(c)
	for _, name := range names {
		i := slices.IndexFunc(all, func(s locktest.Storm) bool { return s.Name == name })
		if i < 0 {
			t.Fatalf("no storm %q", name)
		}
		c.Storms = append(c.Storms, all[i])
	}
	return c
}

// Broken returns the promises that a lock breaks, as "STORM CODE", sorted: those of V1, L1 and C
// that some run violates under a plan that covers them. [locktest.Run] fails by them.
func Broken(t *testing.T, c locktest.Config, open func(locktest.Env) locktest.Locker) (broken []string) {
	t.Helper()
	locktest.Survey(t, c, open, func(t *testing.T, seen locktest.Seen) bool {
		for _, p := range []checker.Property{checker.Lease, checker.DeadlockFreedom, checker.Contract} {
			f := seen.Report.Finding(p)
			if f.Verdict == checker.Violated && !seen.Slipped() && seen.Beyond(p) == nil {
				t.Logf("seed %d: %s: %s", seen.Seed, p.Code(), f.Story())
				broken = append(broken, seen.Scenario.Name+" "+p.Code())
			}
		}
		return true
	})
	slices.Sort(broken)
	return slices.Compact(broken)
}

// inner is the environment variable of a process that runs a test which has to fail.
const inner = "LOCKTEST_INNER"

// Inner reports whether this process was started by [Failing]. Elsewhere a test that has to fail
// must do nothing.
func Inner() bool { return os.Getenv(inner) != "" }

// Failing runs a test of the calling package in a process of its own. It has to fail, with an
// output that contains want.
func Failing(t *testing.T, test, want string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0], "-test.run=^"+test+"$")
	cmd.Env = append(os.Environ(), inner+"=1")
	text, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(text), "--- FAIL: "+test) || !strings.Contains(string(text), want) {
		t.Errorf("%s has to fail with %q: %v\n%s", test, want, err, text)
	}
}

// LeaderDown returns a configuration with the storms calm and leader-down.
func LeaderDown(t *testing.T, store locktest.Store) locktest.Config {
	c := config(t, store)
	c.Storms = []locktest.Storm{{Name: "calm"}, leaderDown()}
	return c
}

// Untold returns what makes the same lock without the notice of a loss.
func Untold(open func(locktest.Env) locktest.Locker) func(locktest.Env) locktest.Locker {
	return func(env locktest.Env) locktest.Locker {
		lock := open(env)
		return locktest.LockerFunc(func(ctx context.Context, resource string) (locktest.Hold, error) {
			hold, err := lock.Lock(ctx, resource)
			hold.Lost = nil
			return hold, err
		})
	}
}
