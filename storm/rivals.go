package storm

import (
	"context"

	"github.com/lockstorm/lockstorm/locks"
	"github.com/lockstorm/lockstorm/scenarios"
)

// locksConfig is what the locks of package locks have in common.
func locksConfig(l scenarios.Lock) locks.Config {
	return locks.Config{
		TTL:       l.TTL,
		Allowance: allowance(l),
		Clock:     l.ReadsClock(),
		Timeout:   l.NodeTimeout,
		Margin:    l.Margin,
		RetryMin:  l.Retry.Min,
		RetryMax:  l.Retry.Max,
		Tries:     l.Tries,
	}
}

// rival returns the ports as package locks knows them.
func (p ports) rival() locks.Ports {
	return locks.Ports{Runtime: p.runtime, Nodes: p.nodes, Store: p.store, Observer: p.observer}
}

// rivalLock makes a [Lock] of one whose holds have a type of their own.
type rivalLock[H Hold] struct {
	lock interface {
		Lock(ctx context.Context, resource string) (H, error)
	}
}

func (l rivalLock[H]) Lock(ctx context.Context, resource string) (Hold, error) {
	hold, err := l.lock.Lock(ctx, resource)
	if err != nil {
		return nil, err
	}
	return hold, nil
}

// plain makes of a function that builds a mutex one that builds a [Lock].
func plain[C any](newMutex func(C, locks.Ports) (*locks.Mutex, error)) func(C, ports) (Lock, error) {
	return func(c C, p ports) (Lock, error) {
		m, err := newMutex(c, p.rival())
		return rivalLock[*locks.Hold]{m}, err
	}
}

// oneKey is a lock that keeps one key, on node 1.
func oneKey(name, what string, newMutex func(locks.Config, locks.Ports) (*locks.Mutex, error)) lockKind {
	return building(lockKind{name: name, what: what, keepers: 1}, locksConfig, plain(newMutex))
}
