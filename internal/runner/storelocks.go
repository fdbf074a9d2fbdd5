package runner

import (
	"cmp"

	"github.com/lockstorm/lockstorm/internal/rivals"
	"github.com/lockstorm/lockstorm/scenarios"
)

// storeKind is a lock of package locks that lives in a store.
func storeKind[C config](name, what, fields string, made func(scenarios.Lock) C, build func(C, ports) (Lock, error)) lockKind {
	return building(lockKind{name: name, what: what, fields: fields}, made, build)
}

func sessionConfig(l scenarios.Lock) rivals.SessionConfig {
	return rivals.SessionConfig{Config: locksConfig(l), Heartbeat: l.Heartbeat}
}

func chubbyConfig(l scenarios.Lock) rivals.ChubbyConfig {
	return rivals.ChubbyConfig{SessionConfig: sessionConfig(l), Grace: l.Grace, LockDelay: l.LockDelay}
}

func fencedConfig(l scenarios.Lock) rivals.FencedConfig {
	return rivals.FencedConfig{SessionConfig: sessionConfig(l), Entries: cmp.Or(l.Entries, 1)}
}

func newFenced(c rivals.FencedConfig, p ports) (Lock, error) {
	lock, err := rivals.NewFenced(c, p.rival())
	return adapter[*rivals.Entrance]{lock}, err
}
