package mutextest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/redlock"
)

// An extension lengthens the life of the key on every node, and shortens it on none.
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

// An extension that a quorum has forgotten reports the loss. It creates no key, and nobody deletes
// the remaining ones.
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

// A release after another client has acquired the lock reports that, and deletes only its own
// remaining keys.
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

// A try that is cancelled while another client holds the lock leaves only that client's keys.
func cancelledWhileWaiting(s *scene) {
	h := s.lock(s.client(config(), nil))
	ctx, cancel := context.WithCancel(s.ctx)
	defer cancel()
	refused := 0
	m := s.client(config(), observe(func(e env.Event) {
		if e.Step != env.StepRefused {
			return
		}
		if refused++; refused == 3 {
			cancel()
		}
	}))
	_, err := m.Lock(ctx, s.key)
	s.wantError("lock", err, context.Canceled)
	s.close(m)
	s.wantHeld(s.key, s.every(h.Token()))
	s.wantError("release", h.Release(s.ctx), nil)
}

// A try that is cancelled at any step ends, granted or not, and leaves no key once it has been
// released.
func cancelledInATry(s *scene) {
	for _, at := range []env.Event{
		{Step: env.StepAcquire}, {Step: env.StepBeforeSend}, {Step: env.StepReply, K: 1}, {Step: env.StepReply, K: 2},
		{Step: env.StepQuorum}, {Step: env.StepAfterCheck}, {Step: env.StepGranted},
	} {
		ctx, cancel := context.WithCancel(s.ctx)
		m := s.client(config(), observe(func(e env.Event) {
			if e.Step == at.Step && e.K == at.K {
				cancel()
			}
		}))
		h, err := m.TryLock(ctx, s.key)
		if err == nil {
			s.wantError("release", h.Release(s.ctx), nil)
		} else {
			s.wantError("try", err, context.Canceled)
		}
		cancel()
		s.close(m)
		s.wantHeld(s.key, s.every(""))
	}
}

// Close notifies the holders, refuses further work and releases nothing. A holder may still
// release.
func closeEndsEverything(s *scene) {
	c := config()
	c.Watchdog.Every = ms
	m := s.client(c, nil)
	h := s.lock(m)
	s.close(m)
	s.wantError("cause", context.Cause(h.Context()), redlock.ErrClosed)
	s.wantHeld(s.key, s.every(h.Token()))
	_, err := m.TryLock(s.ctx, s.key)
	s.wantError("try after close", err, redlock.ErrClosed)
	s.wantError("extend after close", h.Extend(s.ctx, c.TTL), redlock.ErrLost)
	s.close(m) // once more
	s.wantError("release after close", h.Release(s.ctx), nil)
	s.close(m)
	s.wantHeld(s.key, s.every(""))
}

// Close notifies a holder that extends the lock continually, so that an extension younger than the
// hold is always in progress: here one that ignores everything until the hold is lost.
func closeWhileExtending(s *scene) {
	extended, lost, over := make(chan struct{}), make(chan struct{}), make(chan struct{})
	m := s.client(config(), observe(func(e env.Event) {
		switch e.Step {
		case env.StepExtended:
			close(extended)
			select {
			case <-lost:
			case <-over:
			}
		case env.StepLost:
			close(lost)
		}
	}))
	h := s.lock(m)
	var extension sync.WaitGroup
	extension.Go(func() { _ = h.Extend(s.ctx, config().TTL) })
	defer extension.Wait()
	defer close(over)
	s.await("an extension is granted", extended)
	s.close(m)
	s.wantError("cause", context.Cause(h.Context()), redlock.ErrClosed)
}

// Close ends calls in progress: those that wait for the lock, extend it, or release it. The test is
// repeated if the machine was so slow that hardly any client was granted the lock.
func closeDuringCalls(s *scene) {
	for range 20 {
		if s.closesDuringCalls() || s.Failed() {
			return
		}
	}
	s.Error("hardly any client is ever granted the lock")
}

func (s *scene) closesDuringCalls() bool {
	const grants, most = 5, 1000
	tries := new(counter)
	m := s.client(config(), tries)
	var all sync.WaitGroup
	for range 6 {
		all.Go(func() { s.useUntilClosed(m) })
	}
	enough := func() bool { return tries.of(env.StepGranted) >= grants }
	s.wait(func() bool { return enough() || tries.of(env.StepRefused) >= most || s.ctx.Err() != nil }, func() string {
		return fmt.Sprintf("there were only %d grants and %d refusals", tries.of(env.StepGranted), tries.of(env.StepRefused))
	})
	s.close(m)
	all.Wait()
	s.close(m) // a holder may have released after the first
	s.wantHeld(s.key, s.every(""))
	return enough()
}

// useUntilClosed acquires, extends and releases the scene's key repeatedly.
func (s *scene) useUntilClosed(m *redlock.Mutex) {
	for {
		h, err := m.Lock(s.ctx, s.key)
		if errors.Is(err, redlock.ErrClosed) {
			return
		}
		if err != nil {
			s.Errorf("lock: %v", err)
			return
		}
		_ = h.Extend(s.ctx, config().TTL)
		s.wantError("release", h.Release(s.ctx), nil)
	}
}

// watched is a lock whose keys live for a second, and are extended ten times as often.
func watched() redlock.Config {
	c := config()
	c.TTL, c.Margin = time.Second, 100*ms
	c.Watchdog.Every = 100 * ms
	return c
}

// A watchdog keeps the keys beyond their TTL. The test is repeated if the machine paused for so
// long that the lock had to end.
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

// A watchdog reports a loss, creates no key, and deletes none.
func watchdogLoss(s *scene) {
	c := config()
	c.Watchdog.Every = ms
	m := s.client(c, nil)
	h := s.lock(m)
	n := s.forget(h)
	s.await("the holder is notified of the loss", h.Context().Done())
	s.wantError("cause", context.Cause(h.Context()), redlock.ErrLost)
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
		s.wait(func() bool { return steps.of(env.StepExtend) > before+extensions }, func() string {
			return fmt.Sprintf("the watchdog has extended %d times", steps.of(env.StepExtend)-before)
		})
		s.wantError("release", h.Release(s.ctx), nil)
		s.wantError("cause", context.Cause(h.Context()), redlock.ErrReleased)
	}
	s.close(m)
	s.wantHeld(s.key, s.every(""))
}
