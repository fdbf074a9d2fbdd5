package storm

import (
	"cmp"

	"github.com/lockstorm/lockstorm/locks"
	"github.com/lockstorm/lockstorm/scenarios"
)

// storeKind is a lock of package locks that lives in a store.
func storeKind[C config](name, what, fields string, made func(scenarios.Lock) C, build func(C, ports) (Lock, error)) lockKind {
	return building(lockKind{name: name, what: what, fields: fields}, made, build)
}

func sessionConfig(l scenarios.Lock) locks.SessionConfig {
	return locks.SessionConfig{Config: locksConfig(l), Heartbeat: l.Heartbeat}
}

func chubbyConfig(l scenarios.Lock) locks.ChubbyConfig {
	return locks.ChubbyConfig{SessionConfig: sessionConfig(l), Grace: l.Grace, LockDelay: l.LockDelay}
}

func fencedConfig(l scenarios.Lock) locks.FencedConfig {
	return locks.FencedConfig{SessionConfig: sessionConfig(l), Entries: cmp.Or(l.Entries, 1)}
}

func newFenced(c locks.FencedConfig, p ports) (Lock, error) {
	lock, err := locks.NewFenced(c, p.rival())
	return adapter[*locks.Entrance]{lock}, err
}
