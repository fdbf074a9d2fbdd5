package mutextest

import (
	"context"
	"errors"

	"github.com/lockstorm/lockstorm/redlock"
)

// WithLock releases the lock whatever becomes of the work: it ends, it fails, it
// panics, its caller is cancelled.
func withLock(s *scene) {
	m := s.client(config(), nil)
	fails := errors.New("the work fails")
	s.wantError("work that ends", m.WithLock(s.ctx, s.key, func(ctx context.Context) error { return ctx.Err() }), nil)
	s.wantError("work that fails", m.WithLock(s.ctx, s.key, func(context.Context) error { return fails }), fails)
	func() {
		defer func() { _ = recover() }()
		_ = m.WithLock(s.ctx, s.key, func(context.Context) error { panic(fails) })
	}()
	ctx, cancel := context.WithCancel(s.ctx)
	err := m.WithLock(ctx, s.key, func(ctx context.Context) error { cancel(); <-ctx.Done(); return ctx.Err() })
	s.wantError("work that is cancelled", err, context.Canceled)
	s.close(m)
	s.wantHeld(s.key, s.every(""))
}

// LockAll acquires all or nothing.
func lockAllOrNothing(s *scene) {
	before, after := "0 "+s.key, "z "+s.key // in the order of their names
	h := s.lock(s.client(config(), nil))
	hurried := config()
	hurried.Tries = 1
	m := s.client(hurried, nil)
	_, err := m.LockAll(s.ctx, after, s.key, before)
	s.wantError("one is taken", err, redlock.ErrTaken)
	s.close(m)
	s.wantHeld(before, s.every(""))
	s.wantHeld(s.key, s.every(h.Token()))
	s.wantHeld(after, s.every(""))
}

// The holds of LockAll end together, and leave no key.
func lockAllEnds(s *scene) {
	m := s.client(config(), nil)
	holds, err := m.LockAll(s.ctx, s.key+" c", s.key+" b", s.key+" a")
	if err != nil {
		s.Fatal(err)
	}
	for _, h := range holds.Each() {
		s.comeToHold(h.Resource(), s.every(h.Token()))
	}
	s.wantError("release of the first", holds.Each()[0].Release(s.ctx), nil)
	s.wantError("cause of the end of all", context.Cause(holds.Context()), redlock.ErrReleased)
	s.wantError("release of all", holds.Release(s.ctx), redlock.ErrReleased)
	s.close(m)
	for _, h := range holds.Each() {
		s.wantHeld(h.Resource(), s.every(""))
	}
}

// Who wants the same resources in different orders gets them in turn.
func lockAllInOneOrder(s *scene) {
	a, b := s.key+" a", s.key+" b"
	orders := [][]string{{a, b}, {b, a}, {b, a, b}}
	number := 0
	c := contest{config: config(), clients: len(orders), users: 1, rounds: 3, keys: []string{a, b}}
	c.config.Tries = 100
	c.turn = func(client int, m *redlock.Mutex) error {
		holds, err := m.LockAll(s.ctx, orders[client]...)
		if err != nil {
			return err
		}
		number++
		s.wantError("release", holds.Release(s.ctx), nil)
		return nil
	}
	c.run(s)
	if want := c.clients * c.rounds; number != want && !s.Failed() {
		s.Errorf("counted to %d, want %d", number, want)
	}
}
