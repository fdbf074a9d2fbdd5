package runner

import (
	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/internal/rivals"
	"github.com/lockstorm/lockstorm/scenarios"
)

// locksConfig is what the locks of package locks have in common.
func locksConfig(l scenarios.Lock) rivals.Config {
	return rivals.Config{
		TTL:         l.TTL,
		Allowance:   allowance(l.TTL, l),
		Clock:       l.ReadsClock(),
		NodeTimeout: l.NodeTimeout,
		Margin:      l.Margin,
		RetryMin:    l.Retry.Min,
		RetryMax:    l.Retry.Max,
		Tries:       l.Tries,
	}
}

// rival returns the ports as package locks knows them.
func (p ports) rival() rivals.Ports {
	return rivals.Ports{Runtime: p.runtime, Nodes: p.nodes, Store: p.store, Observer: p.observer}
}

// plain makes of a function that builds a mutex one that builds a [Lock].
func plain[C any](newMutex func(C, rivals.Ports) (*rivals.Mutex, error)) func(C, ports) (Lock, error) {
	return func(c C, p ports) (Lock, error) {
		m, err := newMutex(c, p.rival())
		return adapter[*rivals.Hold]{m}, err
	}
}

// oneKey is a lock that keeps one key, on node 1.
func oneKey(name, what string, newMutex func(rivals.Config, rivals.Ports) (*rivals.Mutex, error)) lockKind {
	return building(lockKind{
		name: name, what: what,
		quorum: func(scenarios.Lock) env.Quorum { return env.Quorum{Voters: env.SetOf(1)} },
	}, locksConfig, plain(newMutex))
}
