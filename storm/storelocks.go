package storm

import (
	"cmp"

	"github.com/lockstorm/lockstorm/locks"
	"github.com/lockstorm/lockstorm/scenarios"
)

// storeKind is a lock of package locks that lives in a store. Each of its builders
// refuses parameters that cannot be, before it uses the ports.
func storeKind(name, what, fields string, build func(scenarios.Lock, ports) (Lock, error)) lockKind {
	return lockKind{
		name: name, what: what, fields: fields, allowance: redlockAllowance,
		validate: func(s scenarios.Scenario) error {
			_, err := build(s.Lock, ports{})
			return err
		},
		build: build,
	}
}

func newRow(l scenarios.Lock, p ports) (Lock, error) {
	return plainHolds(locks.NewRow(locksConfig(l), p.rival()))
}

func newZooKeeper(l scenarios.Lock, p ports) (Lock, error) {
	return plainHolds(locks.NewZooKeeper(sessionConfig(l), p.rival()))
}

func newEtcd(l scenarios.Lock, p ports) (Lock, error) {
	return plainHolds(locks.NewEtcd(sessionConfig(l), p.rival()))
}

func newEtcdUnchecked(l scenarios.Lock, p ports) (Lock, error) {
	return plainHolds(locks.NewEtcdUnchecked(sessionConfig(l), p.rival()))
}

func newChubby(l scenarios.Lock, p ports) (Lock, error) {
	return plainHolds(locks.NewChubby(locks.ChubbyConfig{SessionConfig: sessionConfig(l), Grace: l.Grace, LockDelay: l.LockDelay}, p.rival()))
}

func newFenced(l scenarios.Lock, p ports) (Lock, error) {
	lock, err := locks.NewFenced(locks.FencedConfig{SessionConfig: sessionConfig(l), Entries: cmp.Or(l.Entries, 1)}, p.rival())
	return adapter[*locks.Entrance]{lock}, err
}

func sessionConfig(l scenarios.Lock) locks.SessionConfig {
	return locks.SessionConfig{Config: locksConfig(l), Heartbeat: l.Heartbeat}
}
