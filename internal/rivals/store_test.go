package rivals_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/internal/rivals"
)

// eachStoreLock runs a test for each lock, in a bubble of its own. All that a lock
// does in the background has to come to an end when nobody needs it.
func eachStoreLock(t *testing.T, test func(t *testing.T, name string)) {
	for name := range storeLocks {
		t.Run(name, func(t *testing.T) { inBubble(t, func(t *testing.T) { test(t, name) }) })
	}
}

func inBubble(t *testing.T, test func(t *testing.T)) {
	synctest.Test(t, func(t *testing.T) {
		test(t)
		time.Sleep(time.Hour)
	})
}

// pass lets time pass in a bubble until everything that is due by then has happened. A goroutine
// that only sleeps, or waits for one thing, may continue before others at the same instant.
func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// contend has four clients hold the lock five times each, one at a time and with growing fences. It
// returns the last fence.
func contend(t *testing.T, name string, s *store) uint64 {
	t.Helper()
	var inside atomic.Int32
	var fence atomic.Uint64
	var clients sync.WaitGroup
	for range 4 {
		lock, _ := newLocker(t, name, s)
		clients.Go(func() {
			for range 5 {
				h := mustLock(t, lock)
				if inside.Add(1) > 1 || fence.Swap(h.Fence()) >= h.Fence() || h.Check() != nil {
					t.Errorf("with fence %d: %d inside, %v", h.Fence(), inside.Load(), h.Check())
				}
				time.Sleep(30 * ms)
				inside.Add(-1)
				mustRelease(t, h)
			}
		})
	}
	clients.Wait()
	return fence.Load()
}

// Law: one holds at a time, fences grow, and what a release leaves behind is nothing.
func TestStoreLocksExclude(t *testing.T) {
	eachStoreLock(t, wantExclusion)
}

// wantExclusion lets clients contend for a lock, and wants nothing to be left.
func wantExclusion(t *testing.T, name string) {
	s := newStore()
	contend(t, name, s)
	if left := s.left(); len(left) > 0 {
		t.Errorf("%v is left", left)
	}
}

// The reply to a create gets lost: the entry is found, and is the only one.
func TestLostReplyIsFoundAgain(t *testing.T) {
	for _, lost := range []error{env.ErrTimeout, env.ErrStoreLost} {
		eachStoreLock(t, func(t *testing.T, name string) {
			s := newStore()
			once := true
			s.fault = func(r env.StoreRequest) (f fault) {
				if r.Op == env.StoreCreate && once {
					once, f.mute = false, lost
				}
				return f
			}
			lock, heard := newLocker(t, name, s)
			h := mustLock(t, lock)
			if len(s.left()) != 1 || len(heard.of(env.StepRefused)) > 0 || h.Fence() == 0 {
				t.Errorf("%v, %d tries were refused, fence %d", s.left(), len(heard.of(env.StepRefused)), h.Fence())
			}
			mustRelease(t, h)
		})
	}
}

// An entry that cannot be found at once, because no reply came or the request is still on its way,
// is deleted later. Nobody is locked out for a TTL, not even its sender.
func TestLeftoversAreCleared(t *testing.T) {
	for about, made := range map[string]fault{
		"the reply is lost":   {mute: env.ErrTimeout},
		"the request is late": {delay: 400 * ms},
	} {
		eachStoreLock(t, func(t *testing.T, name string) {
			s := newStore()
			creates := 0
			s.fault = func(r env.StoreRequest) (f fault) {
				if r.Op == env.StoreCreate {
					if creates++; creates == 1 {
						return made
					}
				}
				if r.Op == env.StoreList && creates == 1 && made.mute != nil {
					f.lost = env.ErrTimeout
				}
				return f
			}
			lock, _ := newLocker(t, name, s)
			begin := time.Now()
			h := mustLock(t, lock)
			took := time.Since(begin)
			synctest.Wait()
			if took > 300*ms && creates == 1 {
				t.Errorf("%s: the client was its own rival for %v", about, took)
			}
			pass(900 * ms)
			if left := s.left(); len(left) > 1 || len(left) == 1 && left[0].Value != h.Token() {
				t.Errorf("%s: %v is left, and %s holds", about, left, h.Token())
			}
			_ = h.Release(context.Background())
		})
	}
}

// A release with an unknown outcome is repeated in the background.
func TestReleaseIsRepeated(t *testing.T) {
	eachStoreLock(t, func(t *testing.T, name string) {
		s := newStore()
		s.fault = func(r env.StoreRequest) (f fault) {
			if r.Op == env.StoreDelete && s.asked[env.StoreDelete] < 3 {
				f.lost = env.ErrStoreLost
			}
			return f
		}
		lock, heard := newLocker(t, name, s)
		h := mustLock(t, lock)
		if err := h.Release(context.Background()); !errors.Is(err, rivals.ErrNoAnswer) || heard.of(env.StepReleased)[0].Answer != env.Lost {
			t.Errorf("released: %v", err)
		}
		pass(200 * ms)
		if left := s.left(); len(left) > 0 {
			t.Errorf("%v is left", left)
		}
		if err := h.Release(context.Background()); !errors.Is(err, rivals.ErrReleased) {
			t.Errorf("released twice: %v", err)
		}
	})
}

// A request to a store without a leader is repeated; within the timeout nobody notices.
func TestNoLeader(t *testing.T) {
	eachStoreLock(t, func(t *testing.T, name string) {
		s := newStore()
		up := time.Now().Add(40 * ms)
		s.fault = func(env.StoreRequest) (f fault) {
			if time.Now().Before(up) {
				f.lost = env.ErrNoLeader
			}
			return f
		}
		lock, heard := newLocker(t, name, s)
		mustRelease(t, mustLock(t, lock))
		if refused := heard.of(env.StepRefused); len(refused) > 0 || len(s.left()) > 0 {
			t.Errorf("refused %d times, %v is left", len(refused), s.left())
		}
		synctest.Wait()
		s.mu.Lock()
		up = time.Now().Add(time.Second)
		s.mu.Unlock()
		mustRelease(t, mustLock(t, lock))
		if refused := heard.of(env.StepRefused); len(refused) == 0 || !errors.Is(refused[0].Err, env.ErrNoLeader) || time.Now().Before(up) {
			t.Errorf("refused %v", refused)
		}
	})
}

func TestImpossibleStoreConfigs(t *testing.T) {
	p := rivals.Ports{}
	session := func(change func(*rivals.SessionConfig)) error {
		c := sessionConfig()
		change(&c)
		_, err := rivals.NewZooKeeper(c, p)
		return err
	}
	for name, err := range map[string]error{
		"no heartbeat":       session(func(c *rivals.SessionConfig) { c.Heartbeat = 0 }),
		"a late heartbeat":   session(func(c *rivals.SessionConfig) { c.Heartbeat = 968 * ms }),
		"no TTL":             session(func(c *rivals.SessionConfig) { c.TTL = 0 }),
		"no retry delay":     session(func(c *rivals.SessionConfig) { c.RetryMin, c.RetryMax, c.Tries = 0, 0, 1 }),
		"a negative grace":   errorOf(rivals.NewChubby(rivals.ChubbyConfig{SessionConfig: sessionConfig(), Grace: -1}, p)),
		"a negative delay":   errorOf(rivals.NewChubby(rivals.ChubbyConfig{SessionConfig: sessionConfig(), LockDelay: -1}, p)),
		"no entry":           errorOf(rivals.NewFenced(rivals.FencedConfig{SessionConfig: sessionConfig()}, p)),
		"a row without time": errorOf(rivals.NewRow(rivals.Config{}, p)),
	} {
		if !errors.Is(err, rivals.ErrConfig) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func errorOf[T any](_ T, err error) error { return err }
