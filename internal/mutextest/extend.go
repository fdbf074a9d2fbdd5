package mutextest

import (
	"context"
	"time"

	"github.com/lockstorm/lockstorm/redlock"
)

// An extension lengthens the life of the key on every node, and none shortens
// it.
func extend(s *scene) {
	m := s.client(config(), nil)
	h := s.lock(m)
	granted := h.Until()
	s.wantError("extend", h.Extend(s.ctx, 2*time.Hour), nil)
	s.comeToLive(time.Hour, 2*time.Hour)
	until := h.Until()
	if until <= granted {
		s.Errorf("the validity was to end at %d, and at %d after an extension", granted, until)
	}

	s.wantError("extend to less", h.Extend(s.ctx, time.Minute), nil)
	s.wantError("extend to less once more", h.Extend(s.ctx, time.Minute), nil) // the first has come to a quorum only
	s.comeToLive(time.Hour, 2*time.Hour)
	if got := h.Until(); got != until {
		s.Errorf("the validity was to end at %d, and at %d after a shorter extension", until, got)
	}

	s.wantError("impossible TTL", h.Extend(s.ctx, 0), redlock.ErrConfig)
	s.wantError("release", h.Release(s.ctx), nil)
	s.wantError("extend what is released", h.Extend(s.ctx, time.Hour), redlock.ErrReleased)
	s.close(m)
	s.wantHeld(s.key, s.every(""))
}

// An extension of what a quorum has forgotten tells the holder of the loss. It
// makes no key anew, and nobody deletes those that are left.
func extendLost(s *scene) {
	m := s.client(config(), nil)
	h := s.lock(m)
	n := s.forget(h)
	err := h.Extend(s.ctx, 2*time.Hour)
	s.wantError("extend", err, redlock.ErrLost)
	s.wantReplies(err, n)
	s.wantError("cause", context.Cause(h.Context()), redlock.ErrLost)
	s.wantError("extend again", h.Extend(s.ctx, time.Hour), redlock.ErrLost)
	s.close(m)
	s.wantHeld(s.key, s.first(n, "", h.Token()))
}

// The release of what another has acquired meanwhile says so, and deletes
// nothing but what is left of its own keys.
func releaseLost(s *scene) {
	m := s.client(config(), nil)
	h := s.lock(m)
	n := s.forget(h)
	s.occupy()
	err := h.Release(s.ctx)
	s.wantError("release", err, redlock.ErrLost)
	s.wantReplies(err, n)
	s.close(m)
	s.wantHeld(s.key, s.first(n, stranger, ""))
}
