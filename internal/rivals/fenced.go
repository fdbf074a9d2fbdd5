package rivals

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/lockstorm/lockstorm/env"
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

// Fenced is the FencedLock of Hazelcast's CP subsystem: a reentrant lock on consensus,
// with a fence that grows with each owner. The owner is the Fenced. Each entrance has the
// fence of the first, and the last one to be released releases the lock.
//
// Hazelcast gives the holder no deadline; here the hold has that of the session, like the
// other locks. Of two concurrent calls of Lock without a hold, one waits for the other as
// another owner would.
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

// Lock enters the resource again if the owner holds it, and otherwise acquires it as
// [Mutex.Lock] does. One entrance too many is [ErrEntries]. If a hold has ended that some
// entrance has not released, the error is the hold's ([ErrExpiring], [ErrLost]).
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

// enter enters a lock that is owned, or returns nil.
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

// Fences draws fences for Redlock from counters on its nodes, in the two ways that are
// most obvious. Its methods are fence sources for package redlock, which has a third way
// of its own. They stop at the node timeout, not at the end of validity: the lock checks
// that afterwards.
type Fences struct {
	Runtime env.Runtime
	Nodes   env.Nodes

	// Quorum is that of the lock; the zero value: a majority of the nodes.
	Quorum env.Quorum

	// NodeTimeout is how long answers are waited for.
	NodeTimeout time.Duration
}

// counterKey names the counter of a resource. No lock may use it.
func counterKey(resource string) string { return resource + ":fences" }

// IncrementEverywhere increments the counters on all nodes, and returns the highest of the
// first quorum of replies. Such fences do not always grow, even if no node forgets
// anything: the majorities {1,2,3}, {1,4,5} and {2,3,4} of five give 1, 2 and 2, because
// two quorums share only some nodes.
func (f Fences) IncrementEverywhere(ctx context.Context, resource string, _ env.Instant) (uint64, error) {
	return f.increment(ctx, resource, f.Quorum.Among(f.Nodes.Len()))
}

// OneNode increments the counter on node 1. The fences grow as long as the node keeps its
// counter. Without the node there is no fence, and so no lock.
func (f Fences) OneNode(ctx context.Context, resource string, _ env.Instant) (uint64, error) {
	return f.increment(ctx, resource, env.Quorum{Voters: env.SetOf(lockNode)})
}

// increment returns the highest of the counters of the first quorum that answers.
func (f Fences) increment(ctx context.Context, resource string, quorum env.Quorum) (highest uint64, err error) {
	giveUp := f.Runtime.Now(env.Monotonic).Add(f.NodeTimeout)
	round := f.Nodes.Send(quorum.Voters, env.Command{Op: env.OpIncrement, Key: counterKey(resource)}, giveUp)
	for counted := env.NodeSet(0); !quorum.Has(counted); {
		reply, err := round.Next(ctx, giveUp)
		if err != nil {
			return 0, fmt.Errorf("%w: %d of %d counters: %w", ErrNoAnswer, counted.Len(), quorum.Voters.Len(), err)
		}
		if reply.Answer == env.Yes {
			counted = counted.With(reply.Node)
			highest = max(highest, reply.Count)
		}
	}
	return highest, nil
}
