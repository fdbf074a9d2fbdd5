package rivals

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// FencedConfig is that of [NewFenced].
type FencedConfig struct {
	SessionConfig

	// Entries is how often the owner may have entered a lock at a time; at least 1,
	// which means that it is not re-entrant.
	Entries int
}

// Validate returns an [ErrConfig] that names the first value that cannot be.
func (c FencedConfig) Validate() error {
	if c.Entries < 1 {
		return fmt.Errorf("%w: %d entries: want at least 1", ErrConfig, c.Entries)
	}
	return c.SessionConfig.Validate()
}

// ErrEntries says that the owner has entered the lock as often as it may.
var ErrEntries = errors.New("the lock has been entered too often")

// Fenced is the FencedLock of Hazelcast's CP subsystem: a lock on consensus that
// its owner, here the Fenced, may enter again, and whose fence grows with each
// owner. Each entrance has the fence of the first, and the last that is released
// releases the lock.
//
// Hazelcast gives its holder no deadline of its own; here the hold has that of the
// session, as with the other locks. Of two calls of Lock at a time, of which none has
// the lock, one waits for the other as another owner would.
type Fenced struct {
	mutex   *Mutex
	entries int

	mu    sync.Mutex // never held across a wait
	owned map[string]*ownership
}

// ownership is a hold and how often it has been entered.
type ownership struct {
	*Hold
	entries int
}

// Entrance is one of the times that the owner has entered a lock.
type Entrance struct {
	*ownership
	fenced   *Fenced
	released bool // guarded by the fenced's mu
}

// NewFenced returns a fenced lock.
func NewFenced(c FencedConfig, p Ports) (*Fenced, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	mutex, err := newStoreMutex(c.Config, p, &queue{
		sessions: sessions{heartbeat: c.Heartbeat},
		key:      func(a *attempt) string { return path(a.resource) + "/" + a.token },
	})
	return &Fenced{mutex: mutex, entries: c.Entries, owned: map[string]*ownership{}}, err
}

// Lock enters the resource, if the owner holds it; else it acquires it as
// [Mutex.Lock] does. One entrance too many is [ErrEntries]. A hold that has ended, and
// has not been released by all who entered it, is its error ([ErrExpiring],
// [ErrLost]).
func (f *Fenced) Lock(ctx context.Context, resource string) (*Entrance, error) {
	if entrance, err := f.enter(resource); entrance != nil || err != nil {
		return entrance, err
	}
	hold, err := f.mutex.Lock(ctx, resource)
	if err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	owned := &ownership{hold, 1}
	f.owned[resource] = owned
	return &Entrance{ownership: owned, fenced: f}, nil
}

// enter enters what is owned; nil if that is not so.
func (f *Fenced) enter(resource string) (*Entrance, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	owned := f.owned[resource]
	if owned == nil {
		return nil, nil
	}
	if err := owned.Check(); err != nil {
		return nil, err
	}
	if owned.entries == f.entries {
		return nil, ErrEntries
	}
	owned.entries++
	return &Entrance{ownership: owned, fenced: f}, nil
}

// Release gives the entrance back, and releases the lock if it is the last. Twice is
// [ErrReleased].
func (e *Entrance) Release(ctx context.Context) error {
	last, err := e.leave()
	if err != nil || !last {
		return err
	}
	return e.Hold.Release(ctx)
}

func (e *Entrance) leave() (last bool, err error) {
	f := e.fenced
	f.mu.Lock()
	defer f.mu.Unlock()
	if e.released {
		return false, ErrReleased
	}
	e.released = true
	e.entries--
	if e.entries == 0 && f.owned[e.Resource()] == e.ownership {
		delete(f.owned, e.Resource())
	}
	return e.entries == 0, nil
}
