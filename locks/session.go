package locks

import (
	"context"
	"errors"
	"fmt"
	"slices"
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

// session is one session in the store.
//
// Its deadline is when the store may declare it over at the earliest, as the
// client's clock tells: the TTL after the last heartbeat that was acknowledged was
// sent, less the allowance.
type session struct {
	*sessions
	mutex *Mutex
	id    uint64

	// Guarded by the mutex's mu.
	deadline env.Instant // on the lock's clock
	next     env.Instant // when a heartbeat is due, on the monotonic clock
	over     bool
	beating  bool // a task sees to the heartbeats
	members  []*member
}

// member is a try, and the hold that becomes of it.
type member struct {
	session *session
	cancel  context.CancelCauseFunc // of the try
	hold    *Hold                   // nil: not yet
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

// idle reports whether nobody has needed the session for so long that it is past
// its deadline. The mutex's mu is held.
func (s *session) idle() bool { return !s.beating && s.mutex.now() >= s.deadline }

// gone reports whether the session is over, or about to be because nobody keeps it.
func (s *session) gone() bool {
	s.mutex.mu.Lock()
	defer s.mutex.mu.Unlock()
	return s.over || s.idle()
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

// leave ends the need of a session, if there was one.
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

// retire keeps further tries out of the session: it ends when the last that hangs on
// it does. Otherwise a client whose heartbeats get through now and then, and little
// else, would keep everybody out with what its tries have left.
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

// adopt makes the hold of a try that was granted hang on the try's session, if it
// has one.
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

// needs reports whether the session is needed. The mutex's mu is held.
func (m *member) needs() bool { return m.hold == nil || m.hold.lives() }

func (s *session) until() env.Instant {
	s.mutex.mu.Lock()
	defer s.mutex.mu.Unlock()
	return s.deadline
}

// beat sends the heartbeats, as long as somebody needs the session.
func (s *session) beat() {
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
			s.endIfHopeless()
		}
	}
}

// endIfHopeless ends a session that is past its deadline and the grace period. Its
// heartbeats end with it: were they to reach a store that cannot answer, they would
// keep everybody out for ever.
func (s *session) endIfHopeless() bool {
	hopeless := s.mutex.now() >= s.until().Add(s.grace)
	if hopeless {
		s.end(ErrSession)
	}
	return hopeless
}

// due says when the next heartbeat is, and whether anybody needs it; if not the
// task is about to end.
func (s *session) due() (at env.Instant, needed bool) {
	s.mutex.mu.Lock()
	defer s.mutex.mu.Unlock()
	s.beating = !s.over && slices.ContainsFunc(s.members, (*member).needs)
	return s.next, s.beating
}

// extend sends a heartbeat, and tells of it as an extension of every hold.
func (s *session) extend(ctx context.Context) error {
	ttl, holds := s.mutex.config.TTL, s.holds()
	for _, h := range holds {
		h.extending(ttl)
	}
	until, err := s.keep(ctx)
	for _, h := range holds {
		_ = h.extended(ttl, until, err)
	}
	return err
}

// holds returns those that are worth a heartbeat.
func (s *session) holds() (list []*Hold) {
	s.mutex.mu.Lock()
	defer s.mutex.mu.Unlock()
	for _, m := range s.members {
		if m.hold != nil && m.needs() {
			list = append(list, m.hold)
		}
	}
	return list
}

// keep sends a heartbeat and returns the deadline that it gives. If the store says
// that the session is over, so it is.
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

// end tells all that hangs on the session of its end.
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

// The rest of a scheme that all on sessions have in common.

func (ss *sessions) abandon(a *attempt) {
	a.member.leave()
	a.clear()
}

// extend is refused: the heartbeats do it.
func (ss *sessions) extend(context.Context, *Hold, time.Duration) (env.Instant, error) {
	return 0, errNoExtension
}

func (ss *sessions) release(ctx context.Context, h *Hold) (env.Answer, error) {
	h.member.leave()
	return h.drop(ctx)
}
