package storm

import (
	"cmp"
	"context"

	"github.com/lockstorm/lockstorm/locks"
	"github.com/lockstorm/lockstorm/scenarios"
)

// storeKind is a lock of package locks that lives in a store. Each of its builders
// refuses parameters that cannot be, before it uses the ports.
func storeKind(name, what, fields string, build func(scenarios.Lock, ports) (Lock, error)) lockKind {
	return lockKind{
		name: name, what: what, keepers: -1, store: true, fields: fields, allowance: redlockAllowance,
		validate: func(l scenarios.Lock) error {
			_, err := build(l, ports{})
			return err
		},
		build: build,
	}
}

func newRow(l scenarios.Lock, p ports) (Lock, error) {
	return storeLock(locks.NewRow(locksConfig(l), p.rival()))
}

func newZooKeeper(l scenarios.Lock, p ports) (Lock, error) {
	return storeLock(locks.NewZooKeeper(sessionConfig(l), p.rival()))
}

func newEtcd(l scenarios.Lock, p ports) (Lock, error) {
	return storeLock(locks.NewEtcd(sessionConfig(l), p.rival()))
}

func newEtcdUnchecked(l scenarios.Lock, p ports) (Lock, error) {
	return storeLock(locks.NewEtcdUnchecked(sessionConfig(l), p.rival()))
}

func newChubby(l scenarios.Lock, p ports) (Lock, error) {
	return storeLock(locks.NewChubby(locks.ChubbyConfig{SessionConfig: sessionConfig(l), Grace: l.Grace, LockDelay: l.LockDelay}, p.rival()))
}

func newFenced(l scenarios.Lock, p ports) (Lock, error) {
	lock, err := locks.NewFenced(locks.FencedConfig{SessionConfig: sessionConfig(l), Entries: cmp.Or(l.Entries, 1)}, p.rival())
	return rivalLock[*locks.Entry]{lock}, err
}

func sessionConfig(l scenarios.Lock) locks.SessionConfig {
	return locks.SessionConfig{Config: locksConfig(l), Heartbeat: l.Heartbeat}
}

func (p ports) rival() locks.Ports {
	return locks.Ports{Runtime: p.runtime, Nodes: p.nodes, Store: p.store, Observer: p.observer}
}

func storeLock(m *locks.Mutex, err error) (Lock, error) { return rivalLock[*locks.Hold]{m}, err }

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
