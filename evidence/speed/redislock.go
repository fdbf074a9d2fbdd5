package speed

import (
	"context"

	"github.com/bsm/redislock"
	"github.com/redis/go-redis/v9"
)

// single is bsm/redislock, a lock on one node.
type single struct {
	node *redis.Client
	lock *redislock.Client
}

func openRedislock(addrs []string) (Lock, error) {
	node := plain(addrs[0])
	return single{node, redislock.New(node)}, nil
}

func (s single) Acquire(ctx context.Context, resource string) (func(context.Context) error, error) {
	held, err := s.lock.Obtain(ctx, resource, ttl, nil)
	if err != nil {
		return nil, err
	}
	return held.Release, nil
}

func (s single) Close() error { return s.node.Close() }
