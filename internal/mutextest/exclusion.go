package mutextest

import (
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lockstorm/lockstorm/redlock"
)

// Contenders, some of which share a mutex, count under the lock, and the number
// has no other protection: the race detector sees two who do so at once, and the
// sum shows an update that was lost. In the end no key is left.
//
// Delays between tries that are short against the time that a try takes make for split
// votes. On one connection that is the time of all tries that are under way, and on a
// busy machine hundreds of milliseconds: contenders who tried again within 10 ms came
// to a quorum once in fifty tries.
func exclusion(s *scene) {
	number := 0
	c := contest{config: config(), clients: 3, users: 3, rounds: 5, keys: []string{s.key}}
	c.config.RetryMax = 300 * ms
	c.config.Tries = 30
	c.turn = func(_ int, m *redlock.Mutex) error { return s.count(m, &number) }
	c.run(s)
	if want := c.clients * c.users * c.rounds; number != want && !s.Failed() {
		s.Errorf("counted to %d, want %d", number, want)
	}
}

// count adds one to the number under the lock, with a pause in which another's
// update would be lost. It returns the error of the lock.
func (s *scene) count(m *redlock.Mutex, number *int) error {
	h, err := m.Lock(s.ctx, s.key)
	if err != nil {
		return err
	}
	was := *number
	runtime.Gosched()
	*number = was + 1
	s.wantError("release", h.Release(s.ctx), nil)
	return nil
}

// Several goroutines use one hold at a time. One of them releases it, once, and
// no extension outlives that.
func manyHands(s *scene) {
	m := s.client(config(), nil)
	for range 10 {
		h, err := m.Lock(s.ctx, s.key)
		if err != nil {
			s.Fatal(err)
		}
		var released atomic.Int32
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				if err := h.Extend(s.ctx, 2*time.Hour); err != nil && !errors.Is(err, redlock.ErrExtending) && !errors.Is(err, redlock.ErrReleased) {
					s.Errorf("extend: %v", err)
				}
				h.Until()
				if err := h.Release(s.ctx); err == nil {
					released.Add(1)
				} else if !errors.Is(err, redlock.ErrReleased) {
					s.Errorf("release: %v", err)
				}
			})
		}
		all.Wait()
		if n := released.Load(); n != 1 {
			s.Errorf("released %d times", n)
		}
	}
	s.close(m)
	s.wantHeld(s.key, s.every(""))
}
