package speed

import (
	"context"
	"errors"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/redlock"
	"github.com/lockstorm/lockstorm/redlock/redisnode"
)

// ours is the lock of package redlock with its defaults.
type ours struct {
	nodes *redisnode.Nodes
	mutex *redlock.Mutex
}

func openOurs(addrs []string) (Lock, error) {
	nodes, err := redisnode.New(addrs, redisnode.Options{PoolSize: connections})
	if err != nil {
		return nil, err
	}
	mutex, err := redlock.New(redlock.Defaults(ttl), env.System(), nodes, nil)
	if err != nil {
		return nil, errors.Join(err, nodes.Close())
	}
	return ours{nodes, mutex}, nil
}

func openOursOnOneNode(addrs []string) (Lock, error) { return openOurs(addrs[:1]) }

func (o ours) Acquire(ctx context.Context, resource string) (func(context.Context) error, error) {
	hold, err := o.mutex.TryLock(ctx, resource)
	if err != nil {
		return nil, err
	}
	return hold.Release, nil
}

func (o ours) Close() error {
	return errors.Join(o.mutex.Close(context.Background()), o.nodes.Close())
}
