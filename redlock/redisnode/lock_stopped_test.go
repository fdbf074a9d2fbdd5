//go:build linux

package redisnode_test

import (
	"context"
	"errors"
	"math"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/internal/mutextest"
	"github.com/lockstorm/lockstorm/redlock"
	"github.com/lockstorm/lockstorm/redlock/redisnode"
)

// Contenders exclude each other while one server after another stands still.
func TestLockWhileServersStop(t *testing.T) {
	s := newServers(t, 3, redisnode.Options{PoolSize: 4})
	ctx, end := context.WithCancel(t.Context())
	var stopping sync.WaitGroup
	stopping.Go(func() {
		for node := 1; ctx.Err() == nil; node = node%s.fleet.Len() + 1 {
			s.signal(node, syscall.SIGSTOP)
			time.Sleep(10 * time.Millisecond)
			s.signal(node, syscall.SIGCONT)
			time.Sleep(5 * time.Millisecond)
		}
	})
	t.Run("exclusion", func(t *testing.T) { mutextest.Exclusion(t, s) })
	end()
	stopping.Wait()
}

// What a server is asked while it stands still comes to it late, over several
// connections and in any order. No key is left all the same, whether the lock
// was granted by the others or refused.
func TestLateRequestsLeaveNoKey(t *testing.T) {
	for _, inFlight := range []int{1, math.MaxInt} {
		lateRequestsLeaveNoKey(t, newServers(t, 3, redisnode.Options{MaxInFlight: inFlight}))
	}
}

func lateRequestsLeaveNoKey(t *testing.T, s servers) {
	for range 5 {
		s.signal(1, syscall.SIGSTOP)
		m := s.mutex(t, patience)
		h, err := m.TryLock(t.Context(), "key")
		if err != nil {
			t.Fatal(err)
		}
		if err := h.Release(t.Context()); err != nil {
			t.Errorf("release: %v", err)
		}
		s.resume(1)
		s.closeAndWantNoKey(m)

		s.signal(1, syscall.SIGSTOP)
		s.signal(2, syscall.SIGSTOP)
		m = s.mutex(t, 20*time.Millisecond)
		if _, err := m.TryLock(t.Context(), "key"); !errors.Is(err, redlock.ErrNoQuorum) {
			t.Errorf("try: %v", err)
		}
		s.resume(1, 2)
		s.closeAndWantNoKey(m)
	}
}

// linger is long enough to hear in the background of every node, and short enough for
// what a node refused, or was not sent, to be repeated while a test waits.
const linger = 5 * time.Second

// mutex returns a mutex that hears every node in the background.
func (s servers) mutex(t *testing.T, nodeTimeout time.Duration) *redlock.Mutex {
	t.Helper()
	c := redlock.Config{TTL: aeon, NodeTimeout: nodeTimeout, Linger: linger}
	m, err := redlock.New(c, env.System(), s.Connect(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// resume lets servers go on, and returns when each has done what it was sent meanwhile: it
// looks at all its connections in turn, and answers a second time in a later one.
func (s servers) resume(nodes ...int) {
	s.Helper()
	for _, n := range nodes {
		s.signal(n, syscall.SIGCONT)
	}
	for _, n := range nodes {
		s.do(n, "PING")
		s.do(n, "PING")
	}
}

// closeAndWantNoKey waits for the deletions that are repeated, which Close does not: those
// that were not sent to a server because nothing was heard of it.
func (s servers) closeAndWantNoKey(m *redlock.Mutex) {
	s.Helper()
	for end := time.Now().Add(patience); s.keepAny("key") && time.Now().Before(end); time.Sleep(time.Millisecond) {
	}
	ctx, cancel := context.WithTimeout(s.Context(), 2*patience)
	defer cancel()
	if err := m.Close(ctx); err != nil {
		s.Errorf("close: %v", err)
	}
	for n := 1; n <= s.fleet.Len(); n++ {
		if token, _ := s.Look(s.T, n, "key"); token != "" {
			s.Errorf("node %d keeps the key of %s", n, token)
		}
	}
}

// keepAny reports whether a server has a key.
func (s servers) keepAny(key string) bool {
	for n := 1; n <= s.fleet.Len(); n++ {
		if token, _ := s.Look(s.T, n, key); token != "" {
			return true
		}
	}
	return false
}

// A holder who cannot ask a quorum is told so, keeps what there is of the lock,
// and can extend and release it as soon as the servers go on, on the same few
// connections.
func TestHoldSurvivesStoppedServers(t *testing.T) {
	s := newServers(t, 3, redisnode.Options{PoolSize: 1})
	ctx, cancel := context.WithTimeout(t.Context(), 2*patience)
	defer cancel()
	m := s.mutex(t, 50*time.Millisecond)
	h, err := m.Lock(ctx, "key") // as often as a busy machine needs
	if err != nil {
		t.Fatal(err)
	}
	until := h.Until()
	s.signal(1, syscall.SIGSTOP)
	s.signal(2, syscall.SIGSTOP)
	for range 3 {
		if err := h.Extend(ctx, 2*aeon); !errors.Is(err, redlock.ErrNoQuorum) {
			t.Errorf("extend: %v", err)
		}
	}
	if h.Until() != until || h.Context().Err() != nil {
		t.Errorf("the hold ends at %d and not at %d, with %v", h.Until(), until, context.Cause(h.Context()))
	}
	s.signal(1, syscall.SIGCONT)
	s.signal(2, syscall.SIGCONT)
	for err := redlock.ErrNoQuorum; err != nil; {
		if err = h.Extend(ctx, 2*aeon); err != nil && !errors.Is(err, redlock.ErrNoQuorum) {
			t.Fatalf("extend: %v", err)
		}
	}
	if h.Until() <= until {
		t.Errorf("extended to %d, which is no later than %d", h.Until(), until)
	}
	s.signal(1, syscall.SIGSTOP)
	s.signal(2, syscall.SIGSTOP)
	if err := h.Release(ctx); !errors.Is(err, redlock.ErrNoQuorum) {
		t.Errorf("release: %v", err)
	}
	s.resume(1, 2)
	s.closeAndWantNoKey(m)
}
