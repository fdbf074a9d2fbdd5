package rivals

import (
	"context"
	"errors"
	"fmt"
	"slices"
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
	idle []uint64 // connections without a hold or try; guarded by the mutex's mu
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
	session, err := d.connect(ctx, m)
	if err != nil {
		return err
	}
	a.entry = env.Entry{Key: path(a.resource), Session: session}
	reply, err := m.ask(ctx, env.StoreRequest{Op: env.StoreCreate, Key: a.entry.Key, Value: a.token, Session: session, Kind: d.kind})
	switch {
	case err != nil:
		return err
	case reply.Done:
		return nil
	case len(reply.Entries) == 0:
		return ErrSession
	}
	a.entry = env.Entry{}
	d.giveBack(m, session)
	return ErrTaken
}

// connect returns a connection from the pool, or a new one.
func (d *advisory) connect(ctx context.Context, m *Mutex) (session uint64, err error) {
	m.mu.Lock()
	if last := len(d.idle) - 1; last >= 0 {
		session, d.idle = d.idle[last], d.idle[:last]
	}
	m.mu.Unlock()
	if session != 0 {
		return session, nil
	}
	for giveUp := m.mono().Add(m.config.NodeTimeout); ; {
		reply, err := m.Store.Ask(ctx, env.StoreRequest{Op: env.StoreOpen, Kind: d.kind, TTL: m.config.TTL}, m.mono().Add(m.config.NodeTimeout))
		if err == nil {
			return reply.Session, nil
		}
		// A standby was asked; the primary, which may be next, is given its time.
		if !errors.Is(err, env.ErrNoLeader) || m.mono() >= giveUp || m.wait(ctx, giveUp) != nil {
			return 0, fmt.Errorf("%w: %w", ErrNoAnswer, err)
		}
	}
}

func (d *advisory) giveBack(m *Mutex, session uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	d.idle = append(d.idle, session)
}

// abandon closes the connection of a try that does not know whether it has the lock.
func (d *advisory) abandon(a *attempt) { d.hangUp(a) }

// hangUp closes the connection of a try or hold. With it goes the lock. If nobody replies, the
// connection is already gone for the client.
func (d *advisory) hangUp(a *attempt) {
	m, session := a.mutex, a.entry.Session
	if session == 0 {
		return
	}
	m.mu.Lock()
	d.idle = slices.DeleteFunc(d.idle, func(other uint64) bool { return other == session })
	m.mu.Unlock()
	m.Runtime.Go("hang up", func() {
		_, _ = m.Store.Ask(context.Background(), env.StoreRequest{Op: env.StoreClose, Session: session, Kind: d.kind}, m.mono().Add(m.config.NodeTimeout))
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
	d.giveBack(h.mutex, h.entry.Session)
	return env.Yes, nil
}

// granted implements [grantee]: it checks the connection until the hold ends.
func (d *advisory) granted(h *Hold) {
	if d.Heartbeat == 0 {
		return
	}
	m := h.mutex
	m.Runtime.Go("check", func() {
		for m.Runtime.Sleep(h.ctx, m.mono().Add(d.Heartbeat)) == nil && h.ctx.Err() == nil {
			reply, err := m.Store.Ask(context.Background(), env.StoreRequest{Op: env.StoreKeep, Session: h.entry.Session, Kind: d.kind}, m.mono().Add(m.config.NodeTimeout))
			if err != nil || !reply.Done {
				d.hangUp(h.attempt)
				h.lose(ErrSession)
				return
			}
		}
	})
}
