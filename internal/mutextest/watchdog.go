package mutextest

import (
	"context"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/redlock"
)

// watched is a lock whose keys live for a second, and are extended ten times as
// often.
func watched() redlock.Config {
	c := config()
	c.TTL, c.Margin = time.Second, 100*ms
	c.Watchdog.Every = 100 * ms
	return c
}

// A watchdog keeps the keys past their time to live. It is tried again where the
// machine has stood still for so long that the lock had to end.
func watchdog(s *scene) {
	for range 3 {
		if s.outlivesItsKeys() {
			return
		}
	}
	s.Error("no hold has outlived the keys that it was granted")
}

func (s *scene) outlivesItsKeys() bool {
	c, r := watched(), env.System()
	m := s.client(c, nil)
	h, err := m.Lock(s.ctx, s.key)
	if err != nil {
		s.Fatal(err)
	}
	_ = r.Sleep(h.Context(), r.Now(env.Monotonic).Add(c.TTL+c.TTL/10))
	stillHeld := h.Context().Err() == nil
	err = h.Release(s.ctx) // tells whether a quorum held the keys
	s.close(m)
	s.wantHeld(s.key, s.every(""))
	return stillHeld && err == nil
}

// A watchdog tells of a loss, makes no key anew, and deletes none.
func watchdogLoss(s *scene) {
	c := config()
	c.Watchdog.Every = ms
	m := s.client(c, nil)
	h := s.lock(m)
	n := s.forget(h)
	select {
	case <-h.Context().Done():
		s.wantError("cause", context.Cause(h.Context()), redlock.ErrLost)
	case <-time.After(patience):
		s.Error("nobody has told of the loss")
	}
	s.close(m)
	s.wantHeld(s.key, s.first(n, "", h.Token()))
}

// A release ends the watchdog, which may be extending at that moment.
func watchdogRelease(s *scene) {
	c, steps := config(), new(counter)
	c.Watchdog.Every = ms
	m := s.client(c, steps)
	for extensions := range 5 {
		before := steps.of(env.StepExtend)
		h, err := m.Lock(s.ctx, s.key)
		if err != nil {
			s.Fatal(err)
		}
		if !comes(func() bool { return steps.of(env.StepExtend) > before+extensions }) {
			s.Error("the watchdog does not extend")
		}
		s.wantError("release", h.Release(s.ctx), nil)
		s.wantError("cause", context.Cause(h.Context()), redlock.ErrReleased)
	}
	s.close(m)
	s.wantHeld(s.key, s.every(""))
}
