package rivals

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/lockstorm/lockstorm/env"
)

// SessionConfig configures a lock whose holds depend on a session of the client in the
// store. The TTL is the session's.
type SessionConfig struct {
	Config

	// Heartbeat is the interval of heartbeats to the store, from send to send. It is more
	// than 0; if it is less than half of the TTL, one heartbeat may get lost.
	Heartbeat time.Duration
}

// Validate returns an [ErrConfig] that names the first value that cannot be.
func (c SessionConfig) Validate() error {
	if err := c.Config.Validate(); err != nil {
		return err
	}
	if room := c.TTL - c.Allowance - c.Margin; c.Heartbeat <= 0 || c.Heartbeat >= room {
		return fmt.Errorf("%w: a heartbeat every %v: want more than 0, and less than the validity without the margin, %v", ErrConfig, c.Heartbeat, room)
	}
	return nil
}

// ErrSession says that the session in the store is over, and its entries are gone.
var ErrSession = fmt.Errorf("%w: the session is over", ErrLost)

// sessions manages the client's session for a scheme. It opens a session when a try needs
// one, keeps it alive while a try or a hold needs it, and opens another when it is over.
type sessions struct {
	heartbeat time.Duration

	// grace is the time after its deadline for which the session may still be alive; 0: a hold ends
	// at the deadline.
	grace time.Duration

	// unchecked: tries and holds are not notified of the end of the session.
	unchecked bool

	current *session // guarded by the mutex's mu
}

// inSession runs a try, and ends it with its session.
func (ss *sessions) inSession(ctx context.Context, a *attempt, try func(ctx context.Context) error) (err error) {
	trying, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if a.member, err = ss.enter(ctx, a.mutex, cancel); err != nil {
		return err
	}
	if err = try(trying); err != nil && trying.Err() != nil {
		return context.Cause(trying)
	}
	return err
}

// enter adds a try, which cancel ends, to a session that is not known to be over.
func (ss *sessions) enter(ctx context.Context, m *Mutex, cancel context.CancelCauseFunc) (*member, error) {
	for {
		entered, doubtful := ss.join(m, cancel)
		switch {
		case entered != nil:
			return entered, nil
		case doubtful == nil:
			if err := ss.open(ctx, m); err != nil {
				return nil, err
			}
		default:
			if err := doubtful.revalidate(ctx); err != nil {
				return nil, err
			}
		}
	}
}

// revalidate checks whether a session that is past its deadline is over. An error says
// that this is unknown.
func (s *session) revalidate(ctx context.Context) error {
	if s.endIfExpired() {
		return nil
	}
	if _, err := s.keep(ctx); err != nil && !errors.Is(err, ErrSession) {
		return err
	}
	return nil
}

// join enters the current session. If the session is past its deadline, join returns it as
// doubtful, or nil if nobody has needed it since: such a session is not used again, so
// that entries left in it vanish with it.
func (ss *sessions) join(m *Mutex, cancel context.CancelCauseFunc) (entered *member, doubtful *session) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := ss.current
	switch {
	case s == nil, s.over, s.idle():
		return nil, nil
	case m.now() >= s.deadline:
		return nil, s
	}
	entered = &member{session: s, cancel: cancel}
	s.members = append(s.members, entered)
	if !s.heartbeats {
		s.heartbeats = true
		m.Runtime.Go("heartbeat", s.sendHeartbeats)
	}
	return entered, nil
}

// open opens a session. If two are opened at once the client uses one of them.
func (ss *sessions) open(ctx context.Context, m *Mutex) error {
	s := &session{sessions: ss, mutex: m, deadline: m.validUntil(m.config.TTL), next: m.mono().Add(ss.heartbeat)}
	reply, err := m.ask(ctx, env.StoreRequest{Op: env.StoreOpen, TTL: m.config.TTL})
	if err != nil {
		return err
	}
	s.id = reply.Session
	m.mu.Lock()
	defer m.mu.Unlock()
	ss.current = s
	return nil
}

// The rest of a scheme that all on sessions have in common.

func (ss *sessions) abandon(a *attempt) {
	a.member.leave()
	a.clear()
}

func (ss *sessions) release(ctx context.Context, h *Hold) (env.Answer, error) {
	h.member.leave()
	return h.drop(ctx)
}

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

// chubby is a node for each resource, which exists while somebody holds the lock.
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
	a.mayRecover = c.grace > 0
	return c.inSession(ctx, a, func(ctx context.Context) error {
		s := a.member.session
		for {
			a.setUntil(s.until())
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

// NewEtcd returns the Mutex of etcd's client package concurrency: a key under the
// resource that is named after the session's lease, in the order of the revisions that
// created them, and a wait for the key before it to be deleted. The fence is the
// revision. After the wait it looks whether its own key is still there.
//
// As there, a session has one key for a resource: of two calls of Lock at a time,
// one spins.
func NewEtcd(c SessionConfig, p Ports) (*Mutex, error) { return newEtcd(c, p, false) }

// NewEtcdUnchecked returns the same as older clients had it, which do not look: a
// session that ends in the wait is not noticed, and neither does the user listen
// for its end. Without heartbeats nothing tells either that the node it waits at has
// gone dark: such a wait can last for ever.
func NewEtcdUnchecked(c SessionConfig, p Ports) (*Mutex, error) { return newEtcd(c, p, true) }

func newEtcd(c SessionConfig, p Ports, unchecked bool) (*Mutex, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	return newStoreMutex(c.Config, p, &queue{
		sessions: sessions{heartbeat: c.Heartbeat, unchecked: unchecked},
		key: func(a *attempt) string {
			return path(a.resource) + "/" + strconv.FormatUint(a.member.session.id, 16)
		},
	})
}

// NewZooKeeper returns the lock of the recipes page of the ZooKeeper documentation
// ("Locks"): an ephemeral sequential node, whose name bears a guid so that one whose
// creation was not answered is found again, and a watch on the node before it. The
// fence is the node's czxid.
//
// The recipe says nothing of how long the holder may rely on its session. Here that
// is until the session's deadline: see [SessionConfig].
func NewZooKeeper(c SessionConfig, p Ports) (*Mutex, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	return newStoreMutex(c.Config, p, &queue{
		sessions:   sessions{heartbeat: c.Heartbeat},
		key:        func(a *attempt) string { return path(a.resource) + "/" + a.token + "-" },
		sequential: true,
	})
}
