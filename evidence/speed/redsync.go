package speed

import (
	"context"
	"errors"

	"github.com/go-redsync/redsync/v4"
	pools "github.com/go-redsync/redsync/v4/redis"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"
	"github.com/redis/go-redis/v9"
)

// syncing is redsync over go-redis.
type syncing struct {
	nodes   []*redis.Client
	sync    *redsync.Redsync
	options []redsync.Option
}

func openRedsync(addrs []string) (Lock, error) { return newSyncing(addrs), nil }

func openRedsyncFailFast(addrs []string) (Lock, error) {
	return newSyncing(addrs, redsync.WithFailFast(true)), nil
}

func newSyncing(addrs []string, options ...redsync.Option) Lock {
	nodes := plainAll(addrs)
	var all []pools.Pool
	for _, n := range nodes {
		all = append(all, goredis.NewPool(n))
	}
	return syncing{nodes, redsync.New(all...), append(options, redsync.WithExpiry(ttl))}
}

func (s syncing) Acquire(ctx context.Context, resource string) (func(context.Context) error, error) {
	mutex := s.sync.NewMutex(resource, s.options...)
	return func(ctx context.Context) error {
		ok, err := mutex.UnlockContext(ctx)
		switch {
		case ok:
			return nil
		case err == nil:
			return errSilent
		}
		return err
	}, mutex.TryLockContext(ctx)
}

// errSilent is why a lock was not unlocked of which redsync says no more.
var errSilent = errors.New("redsync has not unlocked, and tells no error")

func (s syncing) Close() error { return closeAll(s.nodes) }
