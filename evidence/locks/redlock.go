package locks

import (
	"context"
	"errors"
	"time"

	"github.com/lockstorm/lockstorm/internal/servers/memory"
	"github.com/lockstorm/lockstorm/locktest"
	"github.com/lockstorm/lockstorm/redlock"
	"github.com/lockstorm/lockstorm/redlock/redisnode"
)

// openRedlock is this project's own lock with its defaults, by the same kit as the others.
func openRedlock(env locktest.Env) locktest.Locker {
	machine := memory.Runtime()
	nodes, err := redisnode.New(env.Addrs, redisnode.Options{Runtime: machine, Dial: env.Dial, PoolSize: poolSize})
	env.Must(err)
	env.Cleanup(nodes.Close)
	mutex, err := redlock.New(redlock.Defaults(env.TTL), machine, nodes, nil)
	env.Must(err)
	env.Cleanup(func() error { return mutex.Close(context.Background()) })
	return locktest.LockerFunc(func(ctx context.Context, resource string) (locktest.Hold, error) {
		hold, err := mutex.Lock(ctx, resource)
		if err != nil {
			return locktest.Hold{}, err
		}
		return locktest.Hold{
			Until:   time.Now().Add(hold.Left()),
			Lost:    hold.Context().Done(),
			Release: func(ctx context.Context) error { return notHeld(hold.Release(ctx)) },
			Extend: func(ctx context.Context) (time.Time, error) {
				err := hold.Extend(ctx, env.TTL)
				return time.Now().Add(hold.Left()), err
			},
		}, nil
	})
}

// notHeld translates the error of a release.
func notHeld(err error) error {
	if errors.Is(err, redlock.ErrLost) {
		return locktest.ErrNotHeld
	}
	return err
}
