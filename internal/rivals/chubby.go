package rivals

import (
	"context"
	"fmt"
	"time"

	"github.com/lockstorm/lockstorm/env"
)

// ChubbyConfig is that of [NewChubby].
type ChubbyConfig struct {
	SessionConfig

	// Grace is for how long after the end of the local lease the client goes on to
	// look for a master that still knows its session. 0: no such hope.
	Grace time.Duration

	// LockDelay is for how long nobody can have a lock whose holder's session has
	// ended without a release. 0: not at all.
	LockDelay time.Duration
}

// Validate returns an [ErrConfig] that names the first value that cannot be.
func (c ChubbyConfig) Validate() error {
	switch {
	case c.Grace < 0:
		return fmt.Errorf("%w: a grace period of %v: want at least 0", ErrConfig, c.Grace)
	case c.LockDelay < 0:
		return fmt.Errorf("%w: a lock-delay of %v: want at least 0", ErrConfig, c.LockDelay)
	}
	return c.SessionConfig.Validate()
}

// chubby is a node for each resource, which is there while somebody holds it.
type chubby struct {
	sessions
	delay time.Duration
}

// NewChubby returns the lock of Burrows, "The Chubby lock service for
// loosely-coupled distributed systems" (OSDI 2006): a node that the holder's session
// keeps, a sequencer (the fence, which is the generation number of the lock), a
// local lease, and a lock-delay.
//
// When the local lease is over the session is in jeopardy: the holder is told
// ([ErrExpiring]), and its context goes on. If a heartbeat is answered within the
// grace period so does the hold, which is told as an extension; else it is lost.
// Who waits is told when the node is gone, all at once. The store here knows no
// answer that is held back until the lease is about to end; heartbeats are sent at
// intervals instead.
func NewChubby(c ChubbyConfig, p Ports) (*Mutex, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	return newStoreMutex(c.Config, p, &chubby{sessions{heartbeat: c.Heartbeat, grace: c.Grace}, c.LockDelay})
}

func (c *chubby) acquire(ctx context.Context, a *attempt) error {
	a.hopes = c.grace > 0
	return c.within(ctx, a, func(ctx context.Context) error {
		s := a.member.session
		for {
			a.aim(s.until())
			holder, err := a.create(ctx, env.StoreRequest{Key: path(a.resource), Session: s.id, Delay: c.delay})
			switch {
			case err == nil:
				return a.check()
			case holder.Revision == 0:
				return err // in a lock-delay, for one
			}
			if err := a.await(ctx, holder); err != nil {
				return err
			}
		}
	})
}
