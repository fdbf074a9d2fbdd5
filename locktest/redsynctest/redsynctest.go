// Package redsynctest tests locks of [redsync] in the storms of locktest:
//
//	func TestRedsyncInStorm(t *testing.T) {
//		redsynctest.Run(t, func(env locktest.Env) *redsync.Redsync {
//			return redsync.New(redsynctest.Pools(env, &redis.Options{MaxRetries: -1})...)
//		})
//	}
//
// The test is of your configuration: use the options of go-redis that production has. Options of
// mutexes, and those of locktest, take one line more:
//
//	c := redsynctest.Config(locktest.Config{TTL: 8 * time.Second})
//	locktest.Run(t, c, func(env locktest.Env) locktest.Locker {
//		sync := redsync.New(redsynctest.Pools(env, &redis.Options{MaxRetries: -1})...)
//		return redsynctest.New(env, sync, redsync.WithFailFast(true))
//	})
//
// The expiry of mutexes is locktest.Config.TTL, also where the options have a WithExpiry.
//
// A grant is valid until Mutex.Until. Unlock reports that the lock was not held by
// ErrLockAlreadyExpired or ErrTaken. Holders extend by ExtendContext: in long work each third of
// the TTL, elsewhere if locktest.Config.Extend is set. redsync reports no losses and has no fences.
//
// [redsync]: https://pkg.go.dev/github.com/go-redsync/redsync/v4
package redsynctest

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/go-redsync/redsync/v4"
	pools "github.com/go-redsync/redsync/v4/redis"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"
	"github.com/redis/go-redis/v9"

	"github.com/lockstorm/lockstorm/locktest"
	"github.com/lockstorm/lockstorm/locktest/goredistest"
)

// Run tests mutexes with the default options on 5 nodes in memory, as [locktest.Run] does. open is
// called for each client of each run.
func Run(t *testing.T, open func(locktest.Env) *redsync.Redsync) {
	t.Helper()
	locktest.Run(t, Config(locktest.Config{}), func(env locktest.Env) locktest.Locker { return New(env, open(env)) })
}

// Config returns the configuration with 5 nodes, unless it names another number.
func Config(c locktest.Config) locktest.Config {
	c.Nodes = cmp.Or(c.Nodes, 5)
	return c
}

// Pools returns a pool for each node, of clients of go-redis with these options, which must not name an
// address or a dialer: see package goredistest. Maintenance notifications are off.
func Pools(env locktest.Env, options *redis.Options) (all []pools.Pool) {
	for _, client := range goredistest.Clients(env, options) {
		all = append(all, goredis.NewPool(client))
	}
	return all
}

// New returns the lock of a client, for [locktest.Run]. Each call of Lock makes a mutex with these
// options and the expiry env.TTL.
func New(env locktest.Env, sync *redsync.Redsync, options ...redsync.Option) locktest.Locker {
	options = append(slices.Clone(options), redsync.WithExpiry(env.TTL))
	return locktest.LockerFunc(func(ctx context.Context, resource string) (locktest.Hold, error) {
		mutex := sync.NewMutex(resource, options...)
		if err := mutex.LockContext(ctx); err != nil {
			return locktest.Hold{}, err
		}
		return locktest.Hold{
			Until:   mutex.Until(),
			Release: func(ctx context.Context) error { return unlocked(mutex.UnlockContext(ctx)) },
			Extend: func(ctx context.Context) (time.Time, error) {
				ok, err := mutex.ExtendContext(ctx)
				if !ok && err == nil {
					err = redsync.ErrExtendFailed
				}
				return mutex.Until(), err
			},
		}, nil
	})
}

// errUnlockFailed is the error of an Unlock that failed without one.
var errUnlockFailed = errors.New("redsync has not unlocked, and returns no error")

// unlocked translates the result of Unlock.
func unlocked(ok bool, err error) error {
	var taken *redsync.ErrTaken
	switch {
	case ok:
		return nil
	case errors.Is(err, redsync.ErrLockAlreadyExpired), errors.As(err, &taken):
		return locktest.ErrNotHeld
	case err == nil:
		return errUnlockFailed
	}
	return err
}
