package locks

import (
	"context"
	"errors"
	"time"

	"github.com/go-redsync/redsync/v4"
	pools "github.com/go-redsync/redsync/v4/redis"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"
	"github.com/redis/go-redis/v9"

	"github.com/lockstorm/lockstorm/locktest"
)

// openRedsync is redsync as its README shows it, over go-redis with its defaults.
func openRedsync(env locktest.Env) locktest.Locker {
	return syncing(env, redis.Options{})
}

// openRedsyncTuned is redsync with what its options and those of go-redis offer against nodes
// that do not answer.
func openRedsyncTuned(env locktest.Env) locktest.Locker {
	return syncing(env, prompt(env), redsync.WithFailFast(true))
}

// openRedsyncSetNX is the former with an extension that sets keys anew that are gone.
func openRedsyncSetNX(env locktest.Env) locktest.Locker {
	return syncing(env, prompt(env), redsync.WithFailFast(true), redsync.WithSetNXOnExtend())
}

func syncing(env locktest.Env, options redis.Options, more ...redsync.Option) locktest.Locker {
	var all []pools.Pool
	for _, addr := range env.Addrs {
		all = append(all, goredis.NewPool(dial(env, addr, options)))
	}
	sync := redsync.New(all...)
	more = append(more, redsync.WithExpiry(env.TTL))
	return locktest.LockerFunc(func(ctx context.Context, resource string) (locktest.Hold, error) {
		mutex := sync.NewMutex(resource, more...)
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

// unlocked is what redsync says of a release.
func unlocked(ok bool, err error) error {
	var taken *redsync.ErrTaken
	switch {
	case ok:
		return nil
	case errors.Is(err, redsync.ErrLockAlreadyExpired), errors.As(err, &taken):
		return locktest.ErrNotHeld
	case err == nil:
		return errors.New("redsync has not unlocked, and tells no error")
	}
	return err
}
