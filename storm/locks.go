package storm

import (
	"context"
	"fmt"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/scenarios"
)

// Lock is a lock as workloads use it.
type Lock interface {
	// Lock waits until the resource is acquired, the lock gives up or ctx
	// ends.
	Lock(ctx context.Context, resource string) (Hold, error)
}

// Hold is one grant as workloads use it.
type Hold interface {
	Resource() string
	Token() string
	// Context ends when the holder is told that the lock is lost or about to
	// expire.
	Context() context.Context
	// Fence is the number that the lock has drawn with the grant; 0: none.
	Fence() uint64
	Extend(ctx context.Context, ttl time.Duration) error
	Release(ctx context.Context) error
}

// ports are what a lock is built on: one client's view of a world.
type ports struct {
	client   int // its number
	runtime  env.Runtime
	nodes    env.Nodes
	observer env.Observer
}

// lockKind builds the locks of one kind.
type lockKind struct {
	name string
	// allowance is what the lock sets aside of its TTL for clock error.
	allowance func(scenarios.Lock) time.Duration
	// validate refuses parameters that cannot be.
	validate func(scenarios.Lock) error
	build    func(scenarios.Lock, ports) (Lock, error)
}

// lockKinds lists the locks that a scenario can name.
var lockKinds = []lockKind{
	{"redlock", redlockAllowance, validateRedlock, newRedlock},
}

// LockNames lists the locks that a scenario can name.
func LockNames() []string { return names(lockKinds, func(k lockKind) string { return k.name }) }

func findLock(name string) (lockKind, error) {
	for _, k := range lockKinds {
		if k.name == name {
			return k, nil
		}
	}
	return lockKind{}, fmt.Errorf("unknown lock %q: there is %v", name, LockNames())
}

func names[T any](table []T, name func(T) string) []string {
	list := make([]string, len(table))
	for i, entry := range table {
		list[i] = name(entry)
	}
	return list
}
