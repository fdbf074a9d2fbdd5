package storm

import (
	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/locks"
	"github.com/lockstorm/lockstorm/scenarios"
)

// locksConfig is what the locks of package locks have in common. They set aside
// what Redlock does.
func locksConfig(l scenarios.Lock) locks.Config {
	return locks.Config{
		TTL:         l.TTL,
		Allowance:   redlockAllowance(l),
		Clock:       l.ReadsClock(),
		NodeTimeout: l.NodeTimeout,
		Margin:      l.Margin,
		RetryMin:    l.Retry.Min,
		RetryMax:    l.Retry.Max,
		Tries:       l.Tries,
	}
}

// rival returns the ports as package locks knows them.
func (p ports) rival() locks.Ports {
	return locks.Ports{Runtime: p.runtime, Nodes: p.nodes, Store: p.store, Observer: p.observer}
}

// plainHolds makes a [Lock] of a mutex that has just been built.
func plainHolds(m *locks.Mutex, err error) (Lock, error) { return adapter[*locks.Hold]{m}, err }

// oneKey is a lock that keeps one key, on node 1.
func oneKey(name, what string, newMutex func(locks.Config, locks.Ports) (*locks.Mutex, error)) lockKind {
	return lockKind{
		name: name, what: what,
		quorum:    func(scenarios.Lock, int) env.Quorum { return env.Quorum{Voters: env.SetOf(1)} },
		allowance: redlockAllowance,
		validate:  func(s scenarios.Scenario) error { return locksConfig(s.Lock).Validate() },
		build: func(l scenarios.Lock, p ports) (Lock, error) {
			return plainHolds(newMutex(locksConfig(l), p.rival()))
		},
	}
}
