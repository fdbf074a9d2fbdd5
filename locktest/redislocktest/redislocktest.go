// Package redislocktest tests locks of [redislock] in the storms of locktest:
//
//	func TestRedislockInStorm(t *testing.T) {
//		redislocktest.Run(t, func(env locktest.Env) *redislock.Client {
//			return redislock.New(goredistest.Client(env, &redis.Options{MaxRetries: -1}))
//		})
//	}
//
// The test is of your configuration: use the options of go-redis that production has. Options of
// Obtain, and those of locktest, take one line more:
//
//	c := redislocktest.Config(locktest.Config{TTL: 10 * time.Second})
//	locktest.Run(t, c, func(env locktest.Env) locktest.Locker {
//		client := redislock.New(goredistest.Client(env, &redis.Options{MaxRetries: -1}))
//		return redislocktest.New(env, client, func() *redislock.Options {
//			return &redislock.Options{RetryStrategy: redislock.LinearBackoff(50 * time.Millisecond)}
//		})
//	})
//
// The TTL of locks is locktest.Config.TTL.
//
// redislock reports no end of validity, so a grant is valid for a TTL from the earliest instant at
// which the request can have been sent that obtained it. Release reports by ErrLockNotHeld that the
// lock was not held. Holders extend by Refresh: in long work each third of the TTL, elsewhere if
// locktest.Config.Extend is set. redislock reports no losses and has no fences.
//
// [redislock]: https://pkg.go.dev/github.com/bsm/redislock
package redislocktest

import (
	"cmp"
	"context"
	"errors"
	"testing"
	"time"

	"github.com/bsm/redislock"

	"github.com/lockstorm/lockstorm/locktest"
)

// Run tests a lock without options on one node in memory, as [locktest.Run] does. open is called
// for each client of each run.
func Run(t *testing.T, open func(locktest.Env) *redislock.Client) {
	t.Helper()
	locktest.Run(t, Config(locktest.Config{}), func(env locktest.Env) locktest.Locker { return New(env, open(env), nil) })
}

// Config returns the configuration with one node, unless it names another number.
func Config(c locktest.Config) locktest.Config {
	c.Nodes = cmp.Or(c.Nodes, 1)
	return c
}

// pollInterval is the time between calls of Obtain without options, each of which is one try. It is
// that of the library's example.
const pollInterval = 100 * time.Millisecond

// New returns the lock of a client, for [locktest.Run]. options makes the options of each call of
// Obtain and Refresh, because retry strategies count; Lock fails if Obtain has failed. Without
// options (nil) a lock that is held by somebody else is tried again each 100 ms until the context
// ends.
func New(env locktest.Env, client *redislock.Client, options func() *redislock.Options) locktest.Locker {
	if options != nil {
		return &retrying{env.TTL, client, options}
	}
	return locktest.LockerFunc(func(ctx context.Context, resource string) (locktest.Hold, error) {
		for {
			sent := time.Now()
			lock, err := client.Obtain(ctx, resource, env.TTL, nil)
			if err == nil {
				return hold(lock, sent, env.TTL, func() *redislock.Options { return nil }), nil
			}
			if !errors.Is(err, redislock.ErrNotObtained) || !sleep(ctx, pollInterval) {
				return locktest.Hold{}, err
			}
		}
	})
}

// retrying is a lock with options of the user's.
type retrying struct {
	ttl     time.Duration
	client  *redislock.Client
	options func() *redislock.Options
}

// Lock implements [locktest.Locker].
func (r *retrying) Lock(ctx context.Context, resource string) (locktest.Hold, error) {
	var o redislock.Options
	if given := r.options(); given != nil {
		o = *given
	}
	timed := &timedStrategy{RetryStrategy: o.RetryStrategy, sent: time.Now()}
	if o.RetryStrategy != nil {
		o.RetryStrategy = timed
	}
	lock, err := r.client.Obtain(ctx, resource, r.ttl, &o)
	if err != nil {
		return locktest.Hold{}, err
	}
	return hold(lock, timed.sent, r.ttl, r.options), nil
}

// timedStrategy is a strategy that notes the earliest instant at which the next request is sent.
type timedStrategy struct {
	redislock.RetryStrategy
	sent time.Time
}

// NextBackoff implements [redislock.RetryStrategy].
func (s *timedStrategy) NextBackoff() time.Duration {
	d := s.RetryStrategy.NextBackoff()
	s.sent = time.Now().Add(d)
	return d
}

// hold is the hold of a lock that was obtained by a request sent at sent or later.
func hold(lock *redislock.Lock, sent time.Time, ttl time.Duration, options func() *redislock.Options) locktest.Hold {
	return locktest.Hold{
		Until:   sent.Add(ttl),
		Release: func(ctx context.Context) error { return notHeld(lock.Release(ctx)) },
		Extend: func(ctx context.Context) (time.Time, error) {
			sent := time.Now()
			return sent.Add(ttl), lock.Refresh(ctx, ttl, options())
		},
	}
}

func notHeld(err error) error {
	if errors.Is(err, redislock.ErrLockNotHeld) {
		return locktest.ErrNotHeld
	}
	return err
}

// sleep waits, and returns false if ctx ends before.
func sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}
