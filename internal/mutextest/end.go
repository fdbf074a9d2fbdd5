package mutextest

import (
	"context"
	"errors"
	"sync"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/redlock"
)

// Who is cancelled while another holds the lock leaves nothing but the other's
// keys.
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

// A try that is cancelled at any step is over, granted or not, and leaves no key
// once it has been released.
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

// Close tells the holders, refuses further work and releases nothing; a holder
// may still do that.
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

// Close tells a holder who extends the lock without a pause, so that there is always an
// extension under way that is younger than the hold: here one that is not told until the
// hold is lost.
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
	<-extended
	s.close(m)
	s.wantError("cause", context.Cause(h.Context()), redlock.ErrClosed)
	close(over)
	extension.Wait()
}

// Close ends calls that are under way: those that wait for the lock, those that
// extend it, those that release it. It is tried again where the machine was so slow that
// hardly anybody came to the lock in that many tries.
func closeDuringCalls(s *scene) {
	for !s.closesDuringCalls() && !s.Failed() {
	}
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
	if !comes(func() bool { return enough() || tries.of(env.StepRefused) >= most || s.ctx.Err() != nil }) {
		s.Error("nobody tries any more")
	}
	s.close(m)
	all.Wait()
	s.close(m) // a holder may have released after the first
	s.wantHeld(s.key, s.every(""))
	return enough()
}

// useUntilClosed acquires, extends and releases the scene's key over and over.
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
