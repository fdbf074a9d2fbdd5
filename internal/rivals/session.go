package rivals

import (
	"context"
	"slices"

	"github.com/lockstorm/lockstorm/env"
)

// session is one session in the store.
//
// Its deadline is the earliest time on the client's clock at which the store may end it:
// the TTL, less the allowance, after the last acknowledged heartbeat was sent.
type session struct {
	*sessions
	mutex *Mutex
	id    uint64

	// Guarded by the mutex's mu.
	deadline   env.Instant // on the lock's clock
	next       env.Instant // when a heartbeat is due, on the monotonic clock
	over       bool
	heartbeats bool // a task sees to the heartbeats
	members    []*member
}

// member is a try in a session, and the hold that it leads to.
type member struct {
	session *session
	cancel  context.CancelCauseFunc // of the try
	hold    *Hold                   // nil: not yet
}

// idle reports whether nobody has needed the session for so long that it is past its
// deadline. The mutex's mu is held.
func (s *session) idle() bool { return !s.heartbeats && s.mutex.now() >= s.deadline }

// gone reports whether the session is over, or will be because it has no heartbeats.
func (s *session) gone() bool {
	s.mutex.mu.Lock()
	defer s.mutex.mu.Unlock()
	return s.over || s.idle()
}

// leave removes the member from its session, if it has one.
func (m *member) leave() {
	if m == nil {
		return
	}
	s := m.session
	s.mutex.mu.Lock()
	defer s.mutex.mu.Unlock()
	if i := slices.Index(s.members, m); i >= 0 {
		s.members = slices.Delete(s.members, i, i+1)
	}
}

// retire keeps further tries out of the session, so that it ends with its last member.
// Otherwise a client for which only some heartbeats succeed would block everybody with the
// entries that its tries have left.
func (m *member) retire() {
	if m == nil {
		return
	}
	s := m.session
	s.mutex.mu.Lock()
	defer s.mutex.mu.Unlock()
	if s.current == s {
		s.current = nil
	}
}

// adopt attaches the hold of a granted try to the try's session, if it has one.
func (m *member) adopt(h *Hold) {
	if m == nil {
		return
	}
	s := m.session
	s.mutex.mu.Lock()
	m.hold = h
	over := s.over
	s.mutex.mu.Unlock()
	if over {
		s.end(ErrSession) // for this member too
	}
}

// active reports whether the member needs the session. The mutex's mu is held.
func (m *member) active() bool { return m.hold == nil || m.hold.active() }

func (s *session) until() env.Instant {
	s.mutex.mu.Lock()
	defer s.mutex.mu.Unlock()
	return s.deadline
}

// sendHeartbeats sends heartbeats while some member needs the session.
func (s *session) sendHeartbeats() {
	ctx, m := context.Background(), s.mutex
	for {
		due, needed := s.due()
		switch {
		case !needed:
			return
		case m.mono() < due:
			_ = m.Runtime.Sleep(ctx, due)
			continue
		}
		if s.extend(ctx) != nil {
			s.endIfExpired()
		}
	}
}

// endIfExpired ends a session that is past its deadline and the grace period, and its
// heartbeats: if they reached a store that cannot reply, they would block everybody for
// ever.
func (s *session) endIfExpired() bool {
	hopeless := s.mutex.now() >= s.until().Add(s.grace)
	if hopeless {
		s.end(ErrSession)
	}
	return hopeless
}

// due returns when the next heartbeat is due, and whether any member needs it; if not, the
// task is about to end.
func (s *session) due() (at env.Instant, needed bool) {
	s.mutex.mu.Lock()
	defer s.mutex.mu.Unlock()
	s.heartbeats = !s.over && slices.ContainsFunc(s.members, (*member).active)
	return s.next, s.heartbeats
}

// extend sends a heartbeat and reports it as an extension of every hold.
func (s *session) extend(ctx context.Context) error {
	ttl, holds := s.mutex.config.TTL, s.holds()
	for _, h := range holds {
		h.reportExtend(ttl)
	}
	until, err := s.keep(ctx)
	for _, h := range holds {
		_ = h.reportExtended(ttl, until, err)
	}
	return err
}

// holds returns the holds that need the session.
func (s *session) holds() (list []*Hold) {
	s.mutex.mu.Lock()
	defer s.mutex.mu.Unlock()
	for _, m := range s.members {
		if m.hold != nil && m.active() {
			list = append(list, m.hold)
		}
	}
	return list
}

// keep sends a heartbeat and returns the new deadline. It ends the session if the store
// says that it is over.
func (s *session) keep(ctx context.Context) (env.Instant, error) {
	m := s.mutex
	sent, deadline := m.mono(), m.validUntil(m.config.TTL)
	reply, err := m.ask(ctx, env.StoreRequest{Op: env.StoreKeep, Session: s.id})
	if err == nil && !reply.Done {
		s.end(ErrSession)
		return 0, ErrSession
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if err != nil {
		s.next = m.mono().Add(m.retryDelay())
		return 0, err
	}
	s.next = max(s.next, sent.Add(s.heartbeat))
	s.deadline = max(s.deadline, deadline)
	return s.deadline, nil
}

// end ends the session for all its members.
func (s *session) end(cause error) {
	s.mutex.mu.Lock()
	s.over = true
	members := s.members
	if s.unchecked {
		members = nil
	}
	var holds []*Hold
	for _, m := range members {
		m.cancel(cause)
		if m.hold != nil {
			holds = append(holds, m.hold)
		}
	}
	s.mutex.mu.Unlock()
	for _, h := range holds {
		h.lose(cause)
	}
}
