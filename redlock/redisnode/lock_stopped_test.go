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
	for _, abreast := range []int{1, math.MaxInt} {
		lateRequestsLeaveNoKey(t, newServers(t, 3, redisnode.Options{Abreast: abreast}))
	}
}

func lateRequestsLeaveNoKey(t *testing.T, s servers) {
	for range 5 {
		s.signal(1, syscall.SIGSTOP)
		m := s.mutex(t, patience, patience)
		h, err := m.TryLock(t.Context(), "key")
		if err != nil {
			t.Fatal(err)
		}
		if err := h.Release(t.Context()); err != nil {
			t.Errorf("release: %v", err)
		}
		s.signal(1, syscall.SIGCONT)
		s.closeAndWantNoKey(m)

		s.signal(1, syscall.SIGSTOP)
		s.signal(2, syscall.SIGSTOP)
		m = s.mutex(t, 20*time.Millisecond, patience)
		if _, err := m.TryLock(t.Context(), "key"); !errors.Is(err, redlock.ErrNoQuorum) {
			t.Errorf("try: %v", err)
		}
		s.signal(1, syscall.SIGCONT)
		s.signal(2, syscall.SIGCONT)
		s.closeAndWantNoKey(m)
	}
}

// mutex returns a mutex that waits in the background for so long to hear every node.
func (s servers) mutex(t *testing.T, nodeTimeout, linger time.Duration) *redlock.Mutex {
	t.Helper()
	c := redlock.Config{TTL: aeon, NodeTimeout: nodeTimeout, Linger: linger}
	m, err := redlock.New(c, env.System(), s.Connect(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func (s servers) closeAndWantNoKey(m *redlock.Mutex) {
	s.Helper()
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

// A holder who cannot ask a quorum is told so, keeps what there is of the lock,
// and can extend and release it as soon as the servers go on, on the same few
// connections.
func TestHoldSurvivesStoppedServers(t *testing.T) {
	s := newServers(t, 3, redisnode.Options{PoolSize: 1})
	ctx, cancel := context.WithTimeout(t.Context(), 10*patience)
	defer cancel()
	m := s.mutex(t, 50*time.Millisecond, time.Second)
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
	s.signal(1, syscall.SIGCONT)
	s.signal(2, syscall.SIGCONT)
	// A delete that was given up while a node was silent may never have been sent. The lock
	// asks again until it is closed, so it is closed when the keys are gone.
	for n := 1; n <= s.fleet.Len(); n++ {
		for token := "?"; token != ""; time.Sleep(5 * time.Millisecond) {
			if token, _ = s.Look(t, n, "key"); token != "" && ctx.Err() != nil {
				t.Fatalf("node %d keeps the key of %s", n, token)
			}
		}
	}
	s.closeAndWantNoKey(m)
}
