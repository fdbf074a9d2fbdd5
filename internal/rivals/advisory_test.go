package rivals_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/internal/rivals"
)

func newAdvisory(t *testing.T, s *store, heartbeat time.Duration) (locker, *steps) {
	t.Helper()
	heard := &steps{}
	l, err := made(rivals.NewAdvisory(rivals.AdvisoryConfig{Config: storeConfig(), Heartbeat: heartbeat}, rivals.Ports{Runtime: bubble{}, Store: s, Observer: heard}))
	if err != nil {
		t.Fatal(err)
	}
	return l, heard
}

// Law: one holds an advisory lock at a time, without an end and without a fence, and a release
// leaves nothing behind. A client needs as many connections as it has holds and tries at a time.
func TestAdvisoryLockExcludes(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newStore()
		var inside atomic.Int32
		var clients sync.WaitGroup
		for range 4 {
			lock, _ := newAdvisory(t, s, 0)
			clients.Go(func() {
				for range 5 {
					h := mustLock(t, lock)
					if inside.Add(1) > 1 || h.Fence() != 0 || h.Until() != env.Never || h.Check() != nil {
						t.Errorf("%d inside, fence %d, until %v, %v", inside.Load(), h.Fence(), h.Until(), h.Check())
					}
					time.Sleep(2 * time.Second) // twice the TTL
					inside.Add(-1)
					mustRelease(t, h)
				}
			})
		}
		clients.Wait()
		if left, opened := s.left(), s.count(env.StoreOpen); len(left) > 0 || opened != 4 {
			t.Errorf("%v is left of %d connections", left, opened)
		}
		lock, _ := newAdvisory(t, s, 0)
		a, errA := lock(context.Background(), "a")
		b, errB := lock(context.Background(), "b")
		if errA != nil || errB != nil || s.count(env.StoreOpen) != 6 {
			t.Fatalf("two holds: %v, %v, %d connections", errA, errB, s.count(env.StoreOpen))
		}
		mustRelease(t, a)
		mustRelease(t, b)
	})
}

// A holder learns of the end of its connection from its next heartbeat, or from the release.
func TestAdvisoryHoldEndsWithItsConnection(t *testing.T) {
	for _, heartbeat := range []time.Duration{300 * ms, 0} {
		inBubble(t, func(t *testing.T) {
			s := newStore()
			lock, heard := newAdvisory(t, s, heartbeat)
			h := mustLock(t, lock)
			pass(time.Second)
			s.disconnect()
			pass(time.Second)
			if lost := h.Context().Err() != nil; lost != (heartbeat > 0) || lost != (len(heard.of(env.StepLost)) == 1) || lost != errors.Is(h.Check(), rivals.ErrLost) {
				t.Errorf("heartbeat %v: the context has ended: %t; told %d times; check %v", heartbeat, lost, len(heard.of(env.StepLost)), h.Check())
			}
			if err := h.Release(context.Background()); !errors.Is(err, rivals.ErrLost) {
				t.Errorf("heartbeat %v: the release ends with %v", heartbeat, err)
			}
			mustRelease(t, mustLock(t, lock)) // over another connection
		})
	}
}

// A try or a release without a reply closes the connection, and so leaves no lock.
func TestAdvisoryLockWithoutReplyIsGivenUp(t *testing.T) {
	for _, op := range []env.StoreOp{env.StoreCreate, env.StoreDelete} {
		inBubble(t, func(t *testing.T) {
			s, once := newStore(), true
			s.fault = func(r env.StoreRequest) (f fault) {
				if r.Op == op && once {
					once = false
					if op == env.StoreCreate {
						f.mute = env.ErrTimeout
					} else {
						f.lost = env.ErrTimeout
					}
				}
				return f
			}
			lock, heard := newAdvisory(t, s, 0)
			err := mustLock(t, lock).Release(context.Background())
			if (err != nil) != (op == env.StoreDelete) || (len(heard.of(env.StepRefused)) == 1) != (op == env.StoreCreate) {
				t.Errorf("%v without a reply: %v, %d tries refused", op, err, len(heard.of(env.StepRefused)))
			}
			pass(time.Second)
			if left := s.left(); len(left) > 0 || s.count(env.StoreClose) != 1 {
				t.Errorf("%v without a reply: %v is left, %d connections closed", op, left, s.count(env.StoreClose))
			}
			mustRelease(t, mustLock(t, lock))
		})
	}
}

// A heartbeat that is under way when its hold is released decides whether the connection goes back
// to the pool. Until then the next hold uses another one, which no earlier heartbeat can close.
func TestAdvisoryHeartbeatOutlivesItsHold(t *testing.T) {
	for name, c := range map[string]struct {
		heartbeat, release fault
		opened, closed     int // connections, after a third hold
	}{
		"answered":                       {heartbeat: fault{late: 30 * ms}, opened: 2},
		"not answered":                   {heartbeat: fault{mute: env.ErrTimeout, late: 30 * ms}, opened: 2, closed: 1},
		"not answered, before a release": {heartbeat: fault{mute: env.ErrTimeout, late: 10 * ms}, release: fault{late: 20 * ms}, opened: 2, closed: 1},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				s := newStore()
				s.fault = func(r env.StoreRequest) fault {
					once := s.asked[r.Op] == 1
					switch {
					case once && r.Op == env.StoreDelete:
						return c.release
					case once && r.Op == env.StoreKeep:
						return c.heartbeat
					}
					return fault{}
				}
				lock, heard := newAdvisory(t, s, 300*ms)
				first := mustLock(t, lock)
				pass(305 * ms)
				mustRelease(t, first)
				second := mustLock(t, lock)
				pass(100 * ms)
				if left := s.left(); second.Check() != nil || len(left) != 1 || len(heard.of(env.StepLost)) != 0 {
					t.Errorf("the next hold: %v; the store has %v; %d losses", second.Check(), left, len(heard.of(env.StepLost)))
				}
				mustRelease(t, second)
				mustRelease(t, mustLock(t, lock))
				if opened, closed := s.count(env.StoreOpen), s.count(env.StoreClose); opened != c.opened || closed != c.closed {
					t.Errorf("%d connections opened, %d closed: want %d, %d", opened, closed, c.opened, c.closed)
				}
			})
		})
	}
}

func TestAdvisoryConfig(t *testing.T) {
	c := rivals.AdvisoryConfig{Config: storeConfig(), Heartbeat: -1}
	if _, err := rivals.NewAdvisory(c, rivals.Ports{}); !errors.Is(err, rivals.ErrConfig) {
		t.Errorf("a heartbeat of -1: %v", err)
	}
}
