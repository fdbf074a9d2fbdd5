package redislocktest_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/bsm/redislock"
	"github.com/redis/go-redis/v9"

	"github.com/lockstorm/lockstorm/internal/externaltest"
	"github.com/lockstorm/lockstorm/locktest"
	"github.com/lockstorm/lockstorm/locktest/goredistest"
	"github.com/lockstorm/lockstorm/locktest/redislocktest"
)

// with returns what makes a lock over go-redis with options.
func with(o func(locktest.Env) *redis.Options, options func() *redislock.Options) func(locktest.Env) locktest.Locker {
	return func(env locktest.Env) locktest.Locker {
		return redislocktest.New(env, redislock.New(goredistest.Client(env, o(env))), options)
	}
}

// byDefault are no options.
func byDefault(locktest.Env) *redis.Options { return nil }

// prompt are options by which nothing is sent again, and a reply is not waited for until the lock
// has expired.
func prompt(env locktest.Env) *redis.Options {
	return &redis.Options{MaxRetries: -1, DialTimeout: env.TTL / 4, ReadTimeout: env.TTL / 4}
}

// brief is the configuration of tests that need few grants.
var brief = redislocktest.Config(locktest.Config{Runs: 3, Rounds: 20})

// Law: what is tested is the user's configuration. By default go-redis sends a release again whose
// answer is lost, and the holder is told that the lock was not held; and Obtain returns a lock that
// has expired while go-redis waited for the answer. Prompt options mend both.
func TestOptionsOfTheClientCount(t *testing.T) {
	c := externaltest.Named(t, brief, "contention", "node-comes-back-late", "node-stands-still", "replies-are-lost")
	if got, want := externaltest.Broken(t, c, with(byDefault, nil)), []string{"node-stands-still C", "replies-are-lost C"}; !slices.Equal(got, want) {
		t.Errorf("by default %q is broken, not %q", got, want)
	}
	if got := externaltest.Broken(t, c, with(prompt, nil)); len(got) > 0 {
		t.Errorf("with prompt options %q is broken", got)
	}
}

// Law: the options of Obtain count, too: a token that all clients share excludes nobody. With a
// strategy a grant is valid for a TTL from the try that obtained it, however long the call has
// waited.
func TestOptionsOfObtainCount(t *testing.T) {
	c := externaltest.Named(t, brief, "contention")
	c.Work = c.TTL * 3 / 4
	retry := func() *redislock.Options {
		return &redislock.Options{RetryStrategy: redislock.LinearBackoff(20 * time.Millisecond)}
	}
	if got := externaltest.Broken(t, c, with(byDefault, retry)); len(got) > 0 {
		t.Errorf("with a strategy %q is broken", got)
	}
	shared := func() *redislock.Options {
		o := retry()
		o.Token = "everybody's"
		return o
	}
	if got := externaltest.Broken(t, c, with(byDefault, shared)); !slices.Contains(got, "contention V1") {
		t.Errorf("with a token for all %q is broken", got)
	}
}

// TestNoLock has to fail: [TestRunFails] runs it.
func TestNoLock(t *testing.T) {
	if !externaltest.Inner() {
		return
	}
	redislocktest.Run(t, func(env locktest.Env) *redislock.Client {
		env.Must(fmt.Errorf("no lock on %q", env.Addrs))
		return nil
	})
}

// Law: Run tests the lock that the function makes, on one node.
func TestRunFails(t *testing.T) {
	externaltest.Failing(t, "TestNoLock", `no lock on ["233.252.0.1:6379"]`)
}
