package rivals_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/internal/rivals"
)

// sessionLocks are the locks whose holds hang on a session.
var sessionLocks = []string{"zookeeper", "etcd", "chubby", "fenced"}

func eachSessionLock(t *testing.T, test func(t *testing.T, name string)) {
	for _, name := range sessionLocks {
		t.Run(name, func(t *testing.T) { inBubble(t, func(t *testing.T) { test(t, name) }) })
	}
}

// mute drops all requests to the store between two instants.
func mute(from, to time.Time) func(env.StoreRequest) fault {
	return func(env.StoreRequest) (f fault) {
		if now := time.Now(); !now.Before(from) && now.Before(to) {
			f.lost = env.ErrTimeout
		}
		return f
	}
}

// Law: a hold lasts while heartbeats are answered. It ends the TTL, less the allowance, after the
// last answered one was sent, and each holder is notified.
func TestAHoldLastsWhileHeartbeatsAreAnswered(t *testing.T) {
	eachSessionLock(t, func(t *testing.T, name string) {
		s := newStore()
		lock, heard := newLocker(t, name, s)
		h := mustLock(t, lock)
		begin := h.Until().Add(-988 * ms)
		pass(5 * time.Second)
		if err := h.Check(); err != nil {
			t.Fatalf("after five TTLs: %v", err)
		}
		extended := heard.of(env.StepExtended)
		if n := len(extended); n != 16 || len(heard.of(env.StepExtend)) != n {
			t.Errorf("%d heartbeats told, %d answers", len(heard.of(env.StepExtend)), n)
		}
		for i, e := range extended {
			if want := begin.Add(time.Duration(i+1)*300*ms + 988*ms); e.Until != want || e.Validity != 986*ms {
				t.Errorf("heartbeat %d: until %v before what is right, %v left", i, want.Sub(e.Until), e.Validity)
			}
		}
		if len(extended) > 0 && h.Until() != extended[len(extended)-1].Until {
			t.Error("the hold has another end than was told")
		}
		err, told := h.Extend(context.Background(), time.Second), len(heard.of(env.StepExtend))
		if err == nil || told != len(extended) {
			t.Errorf("to extend by hand ends with %v, and %d extensions are told: want an error, and the %d heartbeats", err, told, len(extended))
		}
		mustRelease(t, h)
		asked := s.count(env.StoreKeep)
		pass(5 * time.Second)
		if more := s.count(env.StoreKeep) - asked; more > 1 {
			t.Errorf("%d heartbeats that nobody needs", more)
		}
		mustRelease(t, mustLock(t, lock))
		if opened := s.count(env.StoreOpen); opened != 2 {
			t.Errorf("opened %d sessions", opened)
		}
	})
}

// The store is silent for longer than the TTL: the holder is warned a margin before its deadline,
// and its entry is gone when the store is back.
func TestSilentStore(t *testing.T) {
	for _, name := range []string{"zookeeper", "etcd", "fenced"} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				s := newStore()
				lock, heard := newLocker(t, name, s)
				h := mustLock(t, lock)
				s.breaks(mute(time.Now(), time.Now().Add(3*time.Second)))
				<-h.Context().Done()
				synctest.Wait() // the observer is told next
				if left := h.Until().Sub(bubble{}.Now(env.Monotonic)); left != 20*ms || !errors.Is(h.Check(), rivals.ErrExpiring) {
					t.Errorf("told %v before the end: %v", left, h.Check())
				}
				if err := h.Release(context.Background()); !errors.Is(err, rivals.ErrNoAnswer) {
					t.Errorf("released: %v", err)
				}
				begin := time.Now()
				again := mustLock(t, lock)
				if took := time.Since(begin); took < time.Second || took > 2300*ms || len(heard.of(env.StepExtendFailed)) == 0 {
					t.Errorf("locked again after %v", took)
				}
				if again.Fence() <= h.Fence() {
					t.Errorf("fence %d after %d", again.Fence(), h.Fence())
				}
				mustRelease(t, again)
			})
		})
	}
}

// The store declares the session over, for a reason unknown to the client: the hold and a waiting
// try learn it at the next heartbeat.
func TestSessionIsDeclaredOver(t *testing.T) {
	eachSessionLock(t, func(t *testing.T, name string) {
		s := newStore()
		lock, heard := newLocker(t, name, s)
		rival, rivalHeard := newLocker(t, name, s)
		h := mustLock(t, lock)
		var waited hold
		waiter := bubble{}.Go("", func() { waited = mustLock(t, rival) })
		pass(100 * ms)
		s.mu.Lock()
		for _, session := range s.sessions {
			session.until = time.Now()
		}
		s.mu.Unlock()
		<-h.Context().Done()
		synctest.Wait() // the observer is told next
		if lost := heard.of(env.StepLost); len(lost) != 1 || !errors.Is(lost[0].Err, rivals.ErrSession) || !errors.Is(h.Check(), rivals.ErrLost) {
			t.Errorf("told %v, %v", lost, h.Check())
		}
		if err := h.Release(context.Background()); !errors.Is(err, rivals.ErrLost) {
			t.Errorf("released: %v", err)
		}
		_ = waiter.Wait(context.Background())
		if name != "chubby" && len(rivalHeard.of(env.StepRefused)) != 1 { // there the node is all that counts
			t.Errorf("%d tries were refused", len(rivalHeard.of(env.StepRefused)))
		}
		if err := waited.Check(); err != nil {
			t.Error(err)
		}
		mustRelease(t, waited)
	})
}

// A caller who gives up leaves nothing in the queue.
func TestCancelledWait(t *testing.T) {
	eachSessionLock(t, func(t *testing.T, name string) {
		s := newStore()
		lock, _ := newLocker(t, name, s)
		rival, heard := newLocker(t, name, s)
		h := mustLock(t, lock)
		ctx, cancel := context.WithCancel(context.Background())
		go func() { time.Sleep(100 * ms); cancel() }()
		if _, err := rival(ctx, "r"); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		pass(10 * ms)
		if left := s.left(); len(left) != 1 || len(heard.of(env.StepQueued)) != 1 || len(heard.of(env.StepWoken)) != 0 {
			t.Errorf("%v is left; queued %d times, woken %d times", left, len(heard.of(env.StepQueued)), len(heard.of(env.StepWoken)))
		}
		mustRelease(t, h)
	})
}

// Chubby's jeopardy: the holder learns when its local lease ends, and continues if a heartbeat is
// answered within the grace period; otherwise the lock is lost at its end.
func TestJeopardy(t *testing.T) {
	for outage, safe := range map[time.Duration]bool{2500 * ms: true, 4 * time.Second: false} {
		inBubble(t, func(t *testing.T) {
			s := newStore()
			lock, heard := newLocker(t, "chubby", s)
			h := mustLock(t, lock)
			s.mu.Lock()
			for _, session := range s.sessions { // the new master counts anew
				session.until = session.until.Add(outage)
			}
			s.mu.Unlock()
			deadline := h.Until()
			s.breaks(mute(time.Now(), time.Now().Add(outage)))
			pass(1100 * ms)
			if err := h.Check(); !errors.Is(err, rivals.ErrExpiring) || len(heard.of(env.StepExpiring)) != 1 || h.Context().Err() != nil {
				t.Errorf("in jeopardy: %v, told %v, %v", err, heard.of(env.StepExpiring), h.Context().Err())
			}
			pass(outage - 1000*ms)
			if safe {
				if err := h.Check(); err != nil || len(heard.of(env.StepExtended)) == 0 {
					t.Errorf("safe again: %v", err)
				}
				mustRelease(t, h)
				return
			}
			lost := heard.of(env.StepLost)
			if err := h.Check(); !errors.Is(err, rivals.ErrLost) || len(lost) != 1 || h.Context().Err() == nil || deadline.Add(2*time.Second) > bubble.Now(bubble{}, 0) {
				t.Errorf("after the grace period: %v, told %v", err, lost)
			}
			_ = h.Release(context.Background())
		})
	}
}

// Law: calls of one client exclude each other as those of several do, and leave
// nothing, whether they are for the same resource or for others. (Those of a fenced
// lock are of one owner.)
func TestCallsOfOneClientExcludeEachOther(t *testing.T) {
	for _, name := range []string{"row", "zookeeper", "etcd", "chubby"} {
		t.Run(name, func(t *testing.T) { inBubble(t, func(t *testing.T) { manyCalls(t, name) }) })
	}
}

func manyCalls(t *testing.T, name string) {
	s := newStore()
	lock, _ := newLocker(t, name, s)
	resources := []string{"a", "b"}
	inside := make([]int, len(resources)) // guarded by the locks, as the race detector checks
	var calls sync.WaitGroup
	for i := range 6 {
		calls.Go(func() {
			for range 5 {
				h, err := lock(context.Background(), resources[i%2])
				if err != nil {
					t.Errorf("lock: %v", err)
					return
				}
				if inside[i%2]++; inside[i%2] != 1 {
					t.Errorf("%d calls of one client hold %q at once", inside[i%2], resources[i%2])
				}
				time.Sleep(10 * ms)
				inside[i%2]--
				if err := h.Release(context.Background()); err != nil {
					t.Errorf("release: %v", err)
				}
			}
		})
	}
	calls.Wait()
	if left := s.left(); len(left) > 0 {
		t.Errorf("everything was released, and the store still has the entries %v", left)
	}
}

// Law: what a client's tries may have left does not keep others out for ever, though
// its heartbeats are answered and nothing else is.
func TestOnlyHeartbeatsAreAnswered(t *testing.T) {
	eachSessionLock(t, func(t *testing.T, name string) {
		s := newStore()
		s.fault = func(r env.StoreRequest) (f fault) {
			if r.Op == env.StoreCreate || r.Op == env.StoreList || r.Op == env.StoreDelete {
				f.mute = env.ErrTimeout
			}
			return f
		}
		lock, _ := newLocker(t, name, s)
		ctx, stop := context.WithCancel(context.Background())
		tried := make(chan struct{})
		go func() { defer close(tried); _, _ = lock(ctx, "r") }()
		first := map[uint64]time.Time{} // by revision: when the entry was seen first
		for range 80 {
			pass(100 * ms)
			for _, e := range s.left() {
				if first[e.Revision].IsZero() {
					first[e.Revision] = time.Now()
				}
				if age := time.Since(first[e.Revision]); age > 4*time.Second {
					t.Errorf("an entry is there for %v", age)
					s.breaks(nil)
				}
			}
		}
		if len(first) == 0 {
			t.Error("nothing was left")
		}
		stop()
		<-tried
	})
}
