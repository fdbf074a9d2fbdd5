package mutextest

import (
	"context"
	"errors"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/redlock"
)

// A lock puts its token on every node, and a release leaves no key on any.
func lockAndRelease(s *scene) {
	m := s.client(config(), nil)
	h := s.lock(m)
	s.comeToLive(time.Hour/2, time.Hour)
	s.wantError("context", h.Context().Err(), nil)
	s.wantError("release", h.Release(s.ctx), nil)
	s.wantError("cause", context.Cause(h.Context()), redlock.ErrReleased)
	s.wantError("release twice", h.Release(s.ctx), redlock.ErrReleased)
	s.close(m)
	s.wantHeld(s.key, s.every(""))
}

// A try on what is taken leaves the holder's keys alone, and says what each node
// made of it.
func taken(s *scene) {
	h := s.lock(s.client(config(), nil))
	other := s.client(config(), nil)
	_, err := other.TryLock(s.ctx, s.key)
	s.wantError("try", err, redlock.ErrTaken)
	s.wantReplies(err, s.nodes.Len())
	s.close(other)
	s.wantHeld(s.key, s.every(h.Token()))
	s.wantError("release", h.Release(s.ctx), nil)
}

// A try that finds a quorum taken leaves no key on the nodes that were free.
func refused(s *scene) {
	n := s.occupy()
	m := s.client(config(), nil)
	_, err := m.TryLock(s.ctx, s.key)
	s.wantError("try", err, redlock.ErrTaken)
	s.wantReplies(err, n)
	s.close(m)
	s.wantHeld(s.key, s.first(n, stranger, ""))
}

// wantReplies checks that the error of a try names every node in its order,
// where the first so many are taken and the rest are free. Nodes that had not
// been heard of when it was decided are told as such.
func (s *scene) wantReplies(err error, taken int) {
	s.Helper()
	var q *redlock.QuorumError
	if !errors.As(err, &q) || len(q.Replies) != s.nodes.Len() {
		s.Fatalf("want a quorum error with %d replies, got %#v", s.nodes.Len(), err)
	}
	declined := 0
	for i, r := range q.Replies {
		want := env.Yes
		if i < taken {
			want = env.No
		}
		if r.Node != i+1 || r.Answer != want && r.Answer != 0 || r.Err != nil {
			s.Errorf("reply %d: %+v, want answer %v of node %d", i, r, want, i+1)
		}
		if r.Answer == env.No {
			declined++
		}
	}
	if s.nodes.Len()-declined >= redlock.Quorum(s.nodes.Len()) {
		s.Errorf("%d of %d nodes declined: that decides nothing", declined, s.nodes.Len())
	}
}

// Lock gives up after so many tries.
func boundedTries(s *scene) {
	n := s.occupy()
	c, tries := config(), new(counter)
	c.Tries = 3
	m := s.client(c, tries)
	_, err := m.Lock(s.ctx, s.key)
	s.wantError("lock", err, redlock.ErrTaken)
	s.close(m)
	if got := tries.of(env.StepAcquire); got != 3 {
		s.Errorf("%d tries", got)
	}
	s.wantHeld(s.key, s.first(n, stranger, ""))
}
