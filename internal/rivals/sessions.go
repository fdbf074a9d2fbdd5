package rivals

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/lockstorm/lockstorm/env"
)

// SessionConfig is that of a lock whose holds hang on a session of the client's in
// the store. The TTL is the session's.
type SessionConfig struct {
	Config

	// Heartbeat is how often the store is told that the client lives, counted from
	// send to send. More than 0; with less than half of the TTL one may get lost.
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

// ErrSession says that the session in the store is over, and what hung on it is gone.
var ErrSession = fmt.Errorf("%w: the session is over", ErrLost)

// sessions is the part of a scheme that sees to the client's session. One is
// opened when a try needs it, kept alive while a try or a hold does, and opened
// anew when it is over.
type sessions struct {
	heartbeat time.Duration

	// grace is for how long after its deadline the session is still hoped for; 0:
	// a hold that was told of the deadline has no hope.
	grace time.Duration

	// unchecked: no try and no hold is told when the session is over.
	unchecked bool

	current *session // guarded by the mutex's mu
}

// within lets a try work while its session lives.
func (ss *sessions) within(ctx context.Context, a *attempt, try func(ctx context.Context) error) (err error) {
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

// enter makes a try, which cancel ends, a member of a session that is not known to
// be over.
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
			if err := doubtful.save(ctx); err != nil {
				return nil, err
			}
		}
	}
}

// save finds out whether a session that is past its deadline is over. The error says
// that nobody can tell.
func (s *session) save(ctx context.Context) error {
	if s.endIfHopeless() {
		return nil
	}
	if _, err := s.keep(ctx); err != nil && !errors.Is(err, ErrSession) {
		return err
	}
	return nil
}

// join enters the present session. If that is past its deadline it returns the
// session instead, or nothing if nobody has needed it either: such a session is used
// no more, so that what may be left in it goes with it.
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
	if !s.beating {
		s.beating = true
		m.Runtime.Go("heartbeat", s.beat)
	}
	return entered, nil
}

// open opens a session. Of two that are opened at once the client uses one.
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
