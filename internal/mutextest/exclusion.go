package mutextest

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lockstorm/lockstorm/redlock"
)

// Contenders, some of which share a mutex, count under the lock, and the number has no other
// protection: the race detector finds two simultaneous accesses, and the sum a lost update. In the
// end no key is left.
//
// If the delays between tries are short compared with a try, votes are split. On one connection a
// try takes as long as all tries in progress, on a busy machine hundreds of milliseconds:
// contenders that retried within 10 ms reached a quorum once in fifty tries.
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

// count adds one to the number under the lock, with a pause in which another update would be lost.
// It returns the error of the lock.
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

// Several goroutines use one hold at a time. One of them releases it, once, and no extension
// outlives that.
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

// contest is clients, each with some users, that all want the same keys.
type contest struct {
	config                 redlock.Config // its Tries end a bout
	clients, users, rounds int            // rounds of each user
	keys                   []string       // of which none is left in the end

	// turn runs one round of a client's user, and returns the error of the lock.
	turn func(client int, m *redlock.Mutex) error
}

// run runs all rounds. A defect can leave a key that nobody deletes, and keys live for an hour, so
// the rounds come in bouts. A bout ends as soon as one user has used up its tries. When nothing is
// in progress any more, a remaining key proves a defect. If there is none, the machine was slow,
// and the next bout continues.
func (c contest) run(s *scene) {
	left := make([]int, c.clients*c.users)
	for i := range left {
		left[i] = c.rounds
	}
	for inVain := 0; !s.Failed(); {
		before := slices.Clone(left)
		switch {
		case c.bout(s, left):
			return
		case !slices.Equal(left, before):
			inVain = 0
		default:
			inVain++
		}
		if inVain == mostInVain {
			s.Errorf("in %d bouts nobody was granted the lock, and each ended with a client's try number %d", inVain, c.config.Tries)
		}
	}
}

// mostInVain is how many bouts in a row may end without a single grant. One can, if the machine is
// slow enough.
const mostInVain = 10

// bout runs the remaining rounds, and reports whether it finished them.
func (c contest) bout(s *scene, left []int) bool {
	var unlucky atomic.Bool
	var all sync.WaitGroup
	var mutexes []*redlock.Mutex
	for client := range c.clients {
		m := s.client(c.config, nil)
		mutexes = append(mutexes, m)
		for user := range c.users {
			mine := &left[client*c.users+user]
			all.Go(func() {
				for ; *mine > 0 && !unlucky.Load(); *mine-- {
					if err := c.turn(client, m); usedUp(err) {
						unlucky.Store(true)
						return
					} else if err != nil {
						s.Errorf("lock: %v", err)
						return
					}
				}
			})
		}
	}
	all.Wait()
	for _, m := range mutexes {
		s.close(m)
	}
	for _, key := range c.keys {
		s.wantHeld(key, s.every(""))
	}
	return !unlucky.Load()
}

// usedUp reports whether a lock gave up after its last try.
func usedUp(err error) bool {
	return errors.Is(err, redlock.ErrTaken) || errors.Is(err, redlock.ErrNoQuorum) || errors.Is(err, redlock.ErrValidity)
}

// WithLock releases the lock however the work ends: it returns, fails, panics, or its caller is
// cancelled.
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
	err := m.WithLock(ctx, s.key, func(ctx context.Context) error {
		cancel()
		s.await("the context of cancelled work ends", ctx.Done())
		return ctx.Err()
	})
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

// Clients that want the same resources in different orders get them in turn.
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
