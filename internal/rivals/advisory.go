package rivals

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/lockstorm/lockstorm/env"
)

// AdvisoryConfig is that of [NewAdvisory]. The TTL is the time after which the server ends the
// connection of a client whose machine does not answer.
type AdvisoryConfig struct {
	Config

	// Heartbeat is the interval at which a holder checks its connection. 0: never, so it learns
	// from the release that the lock was lost.
	Heartbeat time.Duration

	// Transaction makes the lock that of a transaction, which the server also ends when it has
	// not had a statement for the TTL.
	Transaction bool
}

// Validate returns an [ErrConfig] that names the first value that cannot be.
func (c AdvisoryConfig) Validate() error {
	if c.Heartbeat < 0 {
		return fmt.Errorf("%w: a heartbeat every %v: want at least 0", ErrConfig, c.Heartbeat)
	}
	return c.Config.Validate()
}

// advisory is an entry for each resource, which belongs to the connection of its holder.
type advisory struct {
	AdvisoryConfig
	kind env.SessionKind
	idle []*connection // guarded by the mutex's mu
}

// connection is a connection to the store, for one hold or try at a time. It goes to the pool only
// with its last user, because a heartbeat that is still under way decides whether it is usable.
type connection struct {
	session uint64

	// Guarded by the mutex's mu.
	users  int // its hold or try, and a heartbeat that is under way
	closed bool
}

// NewAdvisory returns the advisory lock of PostgreSQL (pg_try_advisory_lock, or
// pg_try_advisory_xact_lock) on a connection of its own for each hold, from a pool. Whoever
// finds the lock taken retries after a random delay.
//
// The server holds the lock as long as the connection lasts. So a holder that stands still keeps
// it, and a holder that dies gives it up at once. The holder has no deadline ([env.Never]): the
// server ends the connection of a client that it cannot reach, and a new primary knows no locks of
// the last one, without the holder's knowledge. There is no fence.
func NewAdvisory(c AdvisoryConfig, p Ports) (*Mutex, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	kind := env.SessionConnection
	if c.Transaction {
		kind = env.SessionTransaction
	}
	return newStoreMutex(c.Config, p, &advisory{AdvisoryConfig: c, kind: kind})
}

func (d *advisory) acquire(ctx context.Context, a *attempt) error {
	m := a.mutex
	a.setUntil(env.Never)
	c, err := d.connect(ctx, m)
	if err != nil {
		return err
	}
	a.connection, a.entry = c, env.Entry{Key: path(a.resource), Session: c.session}
	reply, err := m.ask(ctx, env.StoreRequest{Op: env.StoreCreate, Key: a.entry.Key, Value: a.token, Session: c.session, Kind: d.kind})
	switch {
	case err != nil:
		return err
	case reply.Done:
		return nil
	case len(reply.Entries) == 0:
		return ErrSession
	}
	a.connection, a.entry = nil, env.Entry{}
	d.leave(m, c)
	return ErrTaken
}

// connect returns a connection from the pool, or a new one, with the caller as its user.
func (d *advisory) connect(ctx context.Context, m *Mutex) (*connection, error) {
	if c := d.reuse(m); c != nil {
		return c, nil
	}
	for giveUp := m.mono().Add(m.config.NodeTimeout); ; {
		reply, err := m.Store.Ask(ctx, env.StoreRequest{Op: env.StoreOpen, Kind: d.kind, TTL: m.config.TTL}, m.mono().Add(m.config.NodeTimeout))
		if err == nil {
			return &connection{session: reply.Session, users: 1}, nil
		}
		// A standby was asked; the primary, which may be next, is given its time.
		if !errors.Is(err, env.ErrNoLeader) || m.mono() >= giveUp || m.wait(ctx, giveUp) != nil {
			return nil, fmt.Errorf("%w: %w", ErrNoAnswer, err)
		}
	}
}

// reuse takes a connection from the pool; nil: there is none.
func (d *advisory) reuse(m *Mutex) *connection {
	m.mu.Lock()
	defer m.mu.Unlock()
	last := len(d.idle) - 1
	if last < 0 {
		return nil
	}
	c := d.idle[last]
	d.idle, c.users = d.idle[:last], 1
	return c
}

// leave removes a user of a connection. With the last one it returns to the pool, unless it was
// closed.
func (d *advisory) leave(m *Mutex, c *connection) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if c.users--; c.users == 0 && !c.closed {
		d.idle = append(d.idle, c)
	}
}

// abandon closes the connection of a try that does not know whether it has the lock.
func (d *advisory) abandon(a *attempt) { d.hangUp(a) }

// hangUp closes the connection of a try or hold. With it goes the lock. If nobody replies, the
// connection is already gone for the client.
func (d *advisory) hangUp(a *attempt) {
	m, c := a.mutex, a.connection
	if c == nil {
		return
	}
	m.mu.Lock()
	c.closed = true
	m.mu.Unlock()
	m.Runtime.Go("hang up", func() {
		_, _ = m.Store.Ask(context.Background(), env.StoreRequest{Op: env.StoreClose, Session: c.session, Kind: d.kind}, m.mono().Add(m.config.NodeTimeout))
	})
}

func (d *advisory) release(ctx context.Context, h *Hold) (env.Answer, error) {
	reply, err := h.mutex.ask(ctx, env.StoreRequest{Op: env.StoreDelete, Key: h.entry.Key, Session: h.entry.Session, Kind: d.kind})
	switch {
	case err != nil:
		d.hangUp(h.attempt)
		return env.Lost, err
	case !reply.Done:
		d.hangUp(h.attempt)
		return env.No, ErrLost
	}
	d.leave(h.mutex, h.connection)
	return env.Yes, nil
}

// granted implements [grantee]: it checks the connection until the hold ends.
func (d *advisory) granted(h *Hold) {
	if d.Heartbeat == 0 {
		return
	}
	m := h.mutex
	m.Runtime.Go("check", func() {
		for m.Runtime.Sleep(h.ctx, m.mono().Add(d.Heartbeat)) == nil && d.check(h) {
		}
	})
}

// check sends a heartbeat over the connection of a hold that has not ended. It reports whether it
// was answered.
func (d *advisory) check(h *Hold) bool {
	m := h.mutex
	if !d.enter(h) {
		return false
	}
	defer d.leave(m, h.connection)
	reply, err := m.Store.Ask(context.Background(), env.StoreRequest{Op: env.StoreKeep, Session: h.entry.Session, Kind: d.kind}, m.mono().Add(m.config.NodeTimeout))
	if err != nil || !reply.Done {
		d.hangUp(h.attempt)
		h.lose(ErrSession)
		return false
	}
	return true
}

// enter adds a heartbeat to the users of the connection of a hold, unless the hold has ended. A
// hold that has not ended is itself a user, so nobody else has the connection.
func (d *advisory) enter(h *Hold) bool {
	h.mutex.mu.Lock()
	defer h.mutex.mu.Unlock()
	if h.state != held {
		return false
	}
	h.connection.users++
	return true
}
