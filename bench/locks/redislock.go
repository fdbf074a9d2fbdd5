package locks

import (
	"context"
	"errors"
	"time"

	"github.com/bsm/redislock"
	"github.com/redis/go-redis/v9"

	"github.com/lockstorm/lockstorm/locktest"
)

// openRedislock is redislock as its documentation shows it, over go-redis with its defaults.
func openRedislock(env locktest.Env) locktest.Locker { return single(env, redis.Options{}) }

// openRedislockTuned is redislock over a go-redis that waits for nobody longer than it must.
func openRedislockTuned(env locktest.Env) locktest.Locker { return single(env, prompt(env)) }

// retry is how often redislock tries, in its example of a lock that is waited for.
const retry = 100 * time.Millisecond

// single is redislock on the first node. It tells no end of validity: what a user knows is
// when the call began, and the TTL.
func single(env locktest.Env, options redis.Options) locktest.Locker {
	locker := redislock.New(dial(env, env.Addrs[0], options))
	return locktest.LockerFunc(func(ctx context.Context, resource string) (locktest.Hold, error) {
		for {
			sent := time.Now()
			lock, err := locker.Obtain(ctx, resource, env.TTL, nil)
			if err == nil {
				return obtained(env, lock, sent), nil
			}
			if !errors.Is(err, redislock.ErrNotObtained) || !wait(ctx, retry) {
				return locktest.Hold{}, err
			}
		}
	})
}

func obtained(env locktest.Env, lock *redislock.Lock, sent time.Time) locktest.Hold {
	return locktest.Hold{
		Until:   sent.Add(env.TTL),
		Release: func(ctx context.Context) error { return notHeld(lock.Release(ctx), redislock.ErrLockNotHeld) },
		Extend: func(ctx context.Context) (time.Time, error) {
			sent := time.Now()
			return sent.Add(env.TTL), lock.Refresh(ctx, env.TTL, nil)
		},
	}
}

// wait waits, and returns false if the context ends before.
func wait(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}
