package locktest_test

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/locktest"
)

// lossReporter is a lock that reports the loss of its holds, some time after the end of
// validity.
type lossReporter struct {
	*oneNode
	late time.Duration
}

func (l lossReporter) Lock(ctx context.Context, resource string) (locktest.Hold, error) {
	h, err := l.oneNode.Lock(ctx, resource)
	if err != nil {
		return h, err
	}
	lost := make(chan struct{})
	timer := time.AfterFunc(time.Until(h.Until)+l.late, func() { close(lost) })
	release := h.Release
	h.Release = func(ctx context.Context) error {
		timer.Stop()
		return release(ctx)
	}
	h.Lost = lost
	return h, nil
}

// seen returns in how many runs of a storm a property is broken, or violated as a limit.
func seen(t *testing.T, c locktest.Config, storm string, p checker.Property, open func(locktest.Env) locktest.Locker) (broken, limits int) {
	t.Helper()
	has := func(list []checker.Finding) bool {
		return slices.ContainsFunc(list, func(f checker.Finding) bool { return f.Property == p })
	}
	for seed := uint64(1); seed <= 3; seed++ {
		tried := locktest.Try(t, c, stormOf(t, c, storm), seed, open)
		if tried.Err != nil {
			t.Fatal(tried.Err)
		}
		if has(tried.Broken) {
			broken++
		}
		if has(tried.Limits) {
			limits++
		}
	}
	return broken, limits
}

// Law: a lock that reports losses has to report them in time, unless a client is paused.
func TestLossIsToldInTime(t *testing.T) {
	c := locktest.Config{Nodes: 1, Work: 5 * time.Second, Rounds: 10, Workload: "hold"}
	for late, want := range map[time.Duration]bool{0: false, time.Second: true} {
		open := func(env locktest.Env) locktest.Locker { return lossReporter{onOneNode(env), late} }
		if broken, _ := seen(t, c, "calm", checker.Section, open); broken > 0 != want {
			t.Errorf("told %v late: V2 is violated in %d of 3 runs", late, broken)
		}
	}
	c.Work = 0 // short
	open := func(env locktest.Env) locktest.Locker { return lossReporter{onOneNode(env), 0} }
	if broken, limits := seen(t, c, "holder-stands-still", checker.Section, open); broken > 0 || limits == 0 {
		t.Errorf("who stood still: V2 is broken in %d runs, and a limit in %d", broken, limits)
	}
}

// Law: with a bound of notice, a running holder has to be told within it, by a lock that
// reports losses.
func TestNoticeIsJudgedWhereItIsStated(t *testing.T) {
	c := locktest.Config{Nodes: 1, Work: 5 * time.Second, Rounds: 10, Workload: "hold"}
	told := func(late time.Duration) func(locktest.Env) locktest.Locker {
		return func(env locktest.Env) locktest.Locker { return lossReporter{onOneNode(env), late} }
	}
	silent := func(env locktest.Env) locktest.Locker { return onOneNode(env) }
	for _, v := range []struct {
		name   string
		notice time.Duration
		open   func(locktest.Env) locktest.Locker
		broken bool
	}{
		{"told at once", 100 * time.Millisecond, told(0), false},
		{"told a second late", 100 * time.Millisecond, told(time.Second), true},
		{"told a second late, without a bound", 0, told(time.Second), false},
		{"never told", 100 * time.Millisecond, silent, true},
	} {
		c.Bounds.Notice = v.notice
		if broken, _ := seen(t, c, "calm", checker.Contract, v.open); broken > 0 != v.broken {
			t.Errorf("%s: the contract is violated in %d of 3 runs", v.name, broken)
		}
	}
	c.Work, c.Bounds.Notice = 0, 100*time.Millisecond
	if broken, limits := seen(t, c, "holder-stands-still", checker.Contract, told(0)); broken+limits > 0 {
		t.Errorf("who stood still: the contract is broken in %d runs, and a limit in %d", broken, limits)
	}
}

// Law: a lock without an end of validity is taken at its word: it violates V1 if its holder
// outlasts the TTL. If a pause was the reason, that is a limit.
func TestHoldsWithoutAnEnd(t *testing.T) {
	open := func(env locktest.Env) locktest.Locker {
		l := onOneNode(env)
		l.endless = true
		return l
	}
	if broken, limits := seen(t, locktest.Config{Nodes: 1}, "holder-stands-still", checker.Lease, open); broken > 0 || limits == 0 {
		t.Errorf("who stood still: V1 is broken in %d runs, and a limit in %d", broken, limits)
	}
	if broken, _ := seen(t, locktest.Config{Nodes: 1}, "calm", checker.Lease, open); broken > 0 {
		t.Errorf("in calm V1 is broken in %d runs", broken)
	}
}

// Law: a violation without a promise does not fail the test, and one with a promise beyond
// the default does.
func TestPromisesAreTheUsers(t *testing.T) {
	bad := func(env locktest.Env) locktest.Locker {
		l := onOneNode(env)
		l.twoSteps = true
		return l
	}
	c := locktest.Config{Nodes: 1, Promises: []checker.Property{checker.Contract}}
	if broken, limits := seen(t, c, "contention", checker.Lease, bad); broken > 0 || limits == 0 {
		t.Errorf("V1, not promised, is broken in %d runs, and a limit in %d", broken, limits)
	}
	c.Promises = []checker.Property{checker.Effect}
	if broken, _ := seen(t, c, "contention", checker.Effect, bad); broken == 0 {
		t.Error("V3, promised, is broken in no run")
	}
}

// Law: a lock may tie a hold to the context of its call. If that ends before the call
// returns, the hold is lost from the beginning, and the next holder does not overlap with
// it.
func TestHoldsMayHangOnTheirContext(t *testing.T) {
	c := locktest.Config{Nodes: 1}
	for range 3 { // what is wrong may show every second time
		broken, _ := seen(t, c, "call-is-cancelled", checker.Lease, func(env locktest.Env) locktest.Locker {
			l := onOneNode(env)
			l.endless = true
			return locktest.LockerFunc(func(ctx context.Context, resource string) (locktest.Hold, error) {
				h, err := l.Lock(context.WithoutCancel(ctx), resource)
				if err != nil {
					return h, err
				}
				release := h.Release
				withContext := context.AfterFunc(ctx, func() { _ = release(context.Background()) })
				h.Lost = ctx.Done()
				h.Release = func(ctx context.Context) error {
					if !withContext() {
						return locktest.ErrNotHeld
					}
					return release(ctx)
				}
				return h, nil
			})
		})
		if broken > 0 {
			t.Errorf("V1 is violated in %d of 3 runs", broken)
		}
	}
}

var (
	setField    = redis.NewScript(`if redis.call("EXISTS", KEYS[1]) == 0 then redis.call("HSET", KEYS[1], ARGV[1], 1) redis.call("PEXPIRE", KEYS[1], ARGV[2]) return 1 end return 0`)
	deleteField = redis.NewScript(`if redis.call("HEXISTS", KEYS[1], ARGV[1]) == 1 then return redis.call("DEL", KEYS[1]) end return 0`)
)

// onHash is a correct lock that stores its holds in a hash, as reentrant locks do.
func onHash(env locktest.Env) locktest.Locker {
	client, tries := onOneNode(env).client, new(atomic.Int64)
	return locktest.LockerFunc(func(ctx context.Context, resource string) (locktest.Hold, error) {
		owner, key := fmt.Sprintf("%d.%d", env.Client, tries.Add(1)), []string{resource}
		for {
			sent := time.Now()
			set, err := setField.Run(ctx, client, key, owner, env.TTL.Milliseconds()).Bool()
			if err == nil && set {
				return locktest.Hold{Until: sent.Add(env.TTL), Release: func(ctx context.Context) error {
					deleted, err := deleteField.Run(ctx, client, key, owner).Bool()
					if err == nil && !deleted {
						err = locktest.ErrNotHeld
					}
					return err
				}}, nil
			}
			select {
			case <-time.After(env.TTL / 40):
			case <-ctx.Done():
				return locktest.Hold{}, ctx.Err()
			}
		}
	})
}

// Law: a lock whose keys are not recorded is not blamed for what the records do not show,
// and what depends on them is unknown.
func TestKeysThatAreNotRecorded(t *testing.T) {
	c := locktest.Config{Nodes: 1}
	tried := locktest.Try(t, c, stormOf(t, c, "contention"), 1, onHash)
	if tried.Err != nil || len(tried.Broken)+len(tried.Limits)+len(tried.Open) > 0 {
		t.Errorf("%v, %v", tried, tried.Err)
	}
	c.Promises = []checker.Property{checker.Cleanup}
	tried = locktest.Try(t, c, stormOf(t, c, "contention"), 1, onHash)
	if tried.Err != nil || len(tried.Open) != 1 || tried.Open[0].Property != checker.Cleanup {
		t.Errorf("L3 is promised: %v, %v", tried, tried.Err)
	}
}
