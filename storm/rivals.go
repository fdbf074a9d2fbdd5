package storm

import (
	"context"

	"github.com/lockstorm/lockstorm/locks"
	"github.com/lockstorm/lockstorm/scenarios"
)

// locksConfig is what the locks of package locks have in common. They set aside
// what Redlock does.
func locksConfig(l scenarios.Lock) locks.Config {
	return locks.Config{
		TTL:       l.TTL,
		Allowance: redlockAllowance(l),
		Clock:     l.ReadsClock(),
		Timeout:   l.NodeTimeout,
		Margin:    l.Margin,
		RetryMin:  l.Retry.Min,
		RetryMax:  l.Retry.Max,
		Tries:     l.Tries,
	}
}

// oneKey is a lock that keeps one key, on node 1.
func oneKey(name, what string, newMutex func(locks.Config, locks.Ports) (*locks.Mutex, error)) lockKind {
	return lockKind{
		name: name, what: what, keepers: 1,
		allowance: redlockAllowance,
		validate:  func(l scenarios.Lock) error { return locksConfig(l).Validate() },
		build: func(l scenarios.Lock, p ports) (Lock, error) {
			mutex, err := newMutex(locksConfig(l), locks.Ports{Runtime: p.runtime, Nodes: p.nodes, Observer: p.observer})
			if err != nil {
				return nil, err
			}
			return rival{mutex}, nil
		},
	}
}

// rival is a lock of package locks as workloads use it.
type rival struct{ *locks.Mutex }

func (r rival) Lock(ctx context.Context, resource string) (Hold, error) {
	hold, err := r.Mutex.Lock(ctx, resource)
	if err != nil {
		return nil, err
	}
	return hold, nil
}
