//go:build linux

package redisnode_test

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/redlock"
	"github.com/lockstorm/lockstorm/redlock/redisnode"
)

// The simulator tests the lock more, and exactly, but on one thread: it finds no data races and no
// goroutines that are left. These tests do, over real connections. None of them measures time.

// noGoroutineStays checks that at the end of the test no more goroutines run than now.
func noGoroutineStays(t *testing.T) {
	before := runtime.NumGoroutine()
	t.Cleanup(func() {
		for end := time.Now().Add(patience); runtime.NumGoroutine() > before && !t.Failed(); time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				stacks := make([]byte, 1<<20)
				t.Fatalf("%d goroutines, %d before:\n%s", runtime.NumGoroutine(), before, stacks[:runtime.Stack(stacks, true)])
			}
		}
	})
}

// contenders is a lock for contenders: short delays between tries, and keys that outlive the test.
func (s servers) contenders(t *testing.T) *redlock.Mutex {
	t.Helper()
	c := redlock.Config{TTL: aeon, NodeTimeout: patience, Linger: linger, RetryMax: 100 * time.Millisecond}
	m, err := redlock.New(c, env.System(), s.Connect(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// Contenders, some of which share a mutex, count under the lock, and the number has no other
// protection: the race detector finds two simultaneous accesses, and the sum a lost update. In the end
// no key is left.
func TestContendersExcludeEachOther(t *testing.T) {
	for name, c := range map[string]struct {
		options redisnode.Options
		stop    bool // one server after another stands still meanwhile
	}{
		"plain":          {},
		"one connection": {options: redisnode.Options{PoolSize: 1}},
		"servers stop":   {redisnode.Options{PoolSize: 4}, true},
	} {
		t.Run(name, func(t *testing.T) {
			noGoroutineStays(t)
			s := newServers(t, 3, c.options)
			ctx, end := context.WithTimeout(t.Context(), 2*patience)
			defer end()
			var stopping, contending sync.WaitGroup
			over := make(chan struct{})
			if c.stop {
				stopping.Go(func() { s.stopInTurn(over) })
			}
			const clients, users, rounds = 3, 2, 5
			number := 0
			var mutexes []*redlock.Mutex
			for range clients {
				m := s.contenders(t)
				mutexes = append(mutexes, m)
				for range users {
					contending.Go(func() {
						for range rounds {
							h, err := m.Lock(ctx, "key")
							if err != nil {
								t.Errorf("lock: %v", err)
								return
							}
							was := number
							runtime.Gosched()
							number = was + 1
							if err := h.Release(ctx); err != nil {
								t.Errorf("release: %v", err)
							}
						}
					})
				}
			}
			contending.Wait()
			close(over)
			stopping.Wait()
			for _, m := range mutexes {
				s.closeAndWantNoKey(m)
			}
			if want := clients * users * rounds; number != want && !t.Failed() {
				t.Errorf("counted to %d, want %d", number, want)
			}
		})
	}
}

// stopInTurn makes one server after another stand still until the contest is over.
func (s servers) stopInTurn(over <-chan struct{}) {
	for node := 1; ; node = node%s.fleet.Len() + 1 {
		s.signal(node, syscall.SIGSTOP)
		time.Sleep(10 * time.Millisecond)
		s.signal(node, syscall.SIGCONT)
		select {
		case <-over:
			return
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// Several goroutines use one hold at a time. One of them releases it, once, and no extension outlives
// that.
func TestManyHandsOnOneHold(t *testing.T) {
	noGoroutineStays(t)
	s := newServers(t, 3, redisnode.Options{})
	m := s.contenders(t)
	for range 10 {
		h, err := m.Lock(t.Context(), "key")
		if err != nil {
			t.Fatal(err)
		}
		var released atomic.Int32
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				if err := h.Extend(t.Context(), 2*aeon); err != nil && !errors.Is(err, redlock.ErrExtending) && !errors.Is(err, redlock.ErrReleased) {
					t.Errorf("extend: %v", err)
				}
				h.Until()
				if err := h.Release(t.Context()); err == nil {
					released.Add(1)
				} else if !errors.Is(err, redlock.ErrReleased) {
					t.Errorf("release: %v", err)
				}
			})
		}
		all.Wait()
		if n := released.Load(); n != 1 {
			t.Errorf("released %d times", n)
		}
	}
	s.closeAndWantNoKey(m)
}

// Close ends calls in progress: those that wait for the lock, extend it, or release it. It notifies
// the holders, also those whose watchdog is extending at that moment.
func TestCloseDuringCalls(t *testing.T) {
	noGoroutineStays(t)
	s := newServers(t, 3, redisnode.Options{})
	c := redlock.Config{TTL: aeon, NodeTimeout: patience, Linger: linger, RetryMax: 100 * time.Millisecond, Watchdog: redlock.Watchdog{Every: time.Millisecond}}
	m, err := redlock.New(c, env.System(), s.Connect(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	kept, err := m.Lock(t.Context(), "kept")
	if err != nil {
		t.Fatal(err)
	}
	var grants atomic.Int32
	var all sync.WaitGroup
	for range 6 {
		all.Go(func() {
			for {
				h, err := m.Lock(t.Context(), "key")
				if errors.Is(err, redlock.ErrClosed) {
					return
				}
				if err != nil {
					t.Errorf("lock: %v", err)
					return
				}
				grants.Add(1)
				_ = h.Extend(t.Context(), aeon)
				if err := h.Release(t.Context()); err != nil {
					t.Errorf("release: %v", err)
				}
			}
		})
	}
	for end := time.Now().Add(patience); grants.Load() < 5; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("only %d grants", grants.Load())
		}
	}
	if err := m.Close(t.Context()); err != nil {
		t.Errorf("close: %v", err)
	}
	all.Wait()
	if err := context.Cause(kept.Context()); !errors.Is(err, redlock.ErrClosed) {
		t.Errorf("a hold ended with %v", err)
	}
	s.closeAndWantNoKey(m) // a holder may have released after the first Close
}
