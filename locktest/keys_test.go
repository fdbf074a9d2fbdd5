package locktest_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/locktest"
)

// versioned is a lock whose extension puts the holder's next value in place of the last one.
type versioned struct{ *oneNode }

var swapMine = redis.NewScript(`if redis.call("GET", KEYS[1]) == ARGV[1] then redis.call("SET", KEYS[1], ARGV[2], "PX", ARGV[3]) return 1 end return 0`)

func (l versioned) Lock(ctx context.Context, resource string) (locktest.Hold, error) {
	h, err := l.oneNode.Lock(ctx, resource)
	value, version := fmt.Sprintf("%s.%d", l.owner, l.tries.Load()), 0
	h.Release = func(ctx context.Context) error { return l.release(ctx, resource, value) }
	h.Extend = func(ctx context.Context) (time.Time, error) {
		sent := time.Now()
		version++
		next := fmt.Sprintf("%s.%d version %d", l.owner, l.tries.Load(), version)
		n, err := swapMine.Run(ctx, l.client, []string{resource}, value, next, l.ttl.Milliseconds()).Int()
		if err == nil && n == 0 {
			err = locktest.ErrNotHeld
		}
		if err == nil {
			value = next
		}
		return sent.Add(l.ttl), err
	}
	return h, err
}

// An extension that replaces the key's value extends the key.
func TestExtensionThatReplacesTheValue(t *testing.T) {
	c := locktest.Config{Nodes: 1, Rounds: 5, Extend: 500 * time.Millisecond, Work: 3 * time.Second}
	tried := locktest.Try(t, c, stormOf(t, c, "calm"), 1, func(env locktest.Env) locktest.Locker { return versioned{onOneNode(env)} })
	if tried.Err != nil || len(tried.Broken) > 0 {
		t.Errorf("%v, broken: %v", tried.Err, tried.Broken)
	}
}

// inTwoCommands is a lock that sets its key by one command, and the expiry by another.
type inTwoCommands struct {
	*oneNode
	fails  bool // its second try fails in between
	honest bool // Lock fails if the second command does
}

func (l inTwoCommands) Lock(ctx context.Context, resource string) (locktest.Hold, error) {
	l.noExpiry = true
	sent := time.Now()
	h, err := l.oneNode.Lock(ctx, resource)
	switch {
	case err != nil:
		return h, err
	case l.fails && l.tries.Load() == 2:
		return locktest.Hold{}, errors.New("gone wrong")
	}
	if err := l.client.PExpire(ctx, resource, l.ttl).Err(); err != nil && l.honest { // otherwise the defect is that the error is ignored
		return locktest.Hold{}, err
	}
	if h.Until = sent.Add(l.ttl); !time.Now().Before(h.Until) {
		err = errors.New("the answer came too late")
	}
	return h, err
}

// A release that deletes a key without an expiry tells the truth. A key that is left behind is found, and
// the finding says that it never got an expiry.
func TestKeysThatNeverExpire(t *testing.T) {
	c := locktest.Config{Nodes: 1}
	cancelled := stormOf(t, c, "call-is-cancelled")
	for seed := uint64(1); seed <= 5; seed++ {
		tried := locktest.Try(t, c, cancelled, seed, func(env locktest.Env) locktest.Locker { return inTwoCommands{oneNode: onOneNode(env)} })
		if tried.Err != nil || len(tried.Broken) > 0 {
			t.Errorf("seed %d: %v, broken: %v", seed, tried.Err, tried.Broken)
		}
	}
	c.Promises, c.Rounds = []checker.Property{checker.Cleanup}, 5
	tried := locktest.Try(t, c, stormOf(t, c, "calm"), 1, func(env locktest.Env) locktest.Locker {
		return inTwoCommands{oneNode: onOneNode(env), fails: true}
	})
	if tried.Err != nil || len(tried.Broken) != 1 || !strings.Contains(tried.Broken[0].Story(), "never got an expiry") {
		t.Errorf("%v, broken: %v, want a key that never got an expiry", tried.Err, tried.Broken)
	}
}

func init() {
	innerTests["expiry by a second command"] = func(t *testing.T) {
		c := locktest.Config{Name: "two commands", Nodes: 1, Again: 1, Dir: os.Getenv(inner + "_DIR")}
		c.Storms = append(c.Storms, stormOf(t, c, "replies-are-lost"))
		locktest.Run(t, c, func(env locktest.Env) locktest.Locker { return inTwoCommands{oneNode: onOneNode(env), honest: true} })
	}
}

// A fault that has struck once is no excuse for the deadlock that it leaves behind, although the step at
// which its plan ends it never comes.
func TestDeadlockAfterALostReplyFails(t *testing.T) {
	text := runInner(t, "expiry by a second command", t.TempDir())
	wantMatches(t, text, `L1 \(deadlock freedom\) is violated`, `in\s+a\s+row\s+were\s+refused`)
	if strings.Contains(text, "faults_end") {
		t.Errorf("the storm is said not to be over:\n%s", text)
	}
}
