package rivals_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/internal/rivals"
)

// objectLocks are the locks in a store that expires nothing.
var objectLocks = map[string]func(rivals.Ports) (locker, error){
	"object-store":  func(p rivals.Ports) (locker, error) { return made(rivals.NewObjectStore(storeConfig(), p)) },
	"dynamodb-lock": func(p rivals.Ports) (locker, error) { return made(rivals.NewVersionedRecord(storeConfig(), p)) },
	"lock-file":     func(p rivals.Ports) (locker, error) { return made(rivals.NewLockFile(storeConfig(), p)) },
}

func eachObjectLock(t *testing.T, test func(t *testing.T, name string)) {
	for name := range objectLocks {
		t.Run(name, func(t *testing.T) { inBubble(t, func(t *testing.T) { test(t, name) }) })
	}
}

// Law: one holds at a time, fences grow, and what a release leaves behind is nothing.
func TestObjectLocksExclude(t *testing.T) {
	eachObjectLock(t, wantExclusion)
}

// A record of a client that has died is taken over when its TTL has passed, and not before; a file never is.
func TestObjectLocksAreTakenOver(t *testing.T) {
	eachObjectLock(t, func(t *testing.T, name string) {
		s := newStore()
		dead, _ := newLocker(t, name, s)
		old := mustLock(t, dead)
		begin := time.Now()
		other, _ := newLocker(t, name, s)
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		h, err := other(ctx, "r")
		took := time.Since(begin)
		if name == "lock-file" {
			if err == nil {
				t.Errorf("granted after %v", took)
			}
			mustRelease(t, old)
			return
		}
		if err != nil || took < 988*ms || took > 1100*ms || h.Fence() <= old.Fence() {
			t.Fatalf("%v after %v", err, took)
		}
		if err := old.Release(t.Context()); !errors.Is(err, rivals.ErrLost) || len(s.left()) != 1 {
			t.Errorf("the late release: %v, and %v is left", err, s.left())
		}
		mustRelease(t, h)
	})
}

// An extension keeps others out, and leaves the fence as it is; a file has none.
func TestObjectLocksAreExtended(t *testing.T) {
	eachObjectLock(t, func(t *testing.T, name string) {
		s := newStore()
		lock, _ := newLocker(t, name, s)
		h := mustLock(t, lock)
		rival, heard := newLocker(t, name, s)
		ctx, cancel := context.WithTimeout(t.Context(), 4*time.Second)
		defer cancel()
		waited := make(chan error)
		go func() {
			_, err := rival(ctx, "r")
			waited <- err
		}()
		fence := h.Fence()
		for range 6 {
			pass(700 * ms)
			err := h.Extend(t.Context(), 100*ms) // the record still says a TTL
			if (err == nil) != (name != "lock-file") || h.Fence() != fence {
				t.Errorf("extended: %v, fence %d after %d", err, h.Fence(), fence)
			}
			if name != "lock-file" {
				if err := h.Extend(t.Context(), time.Second); err != nil {
					t.Errorf("extended: %v", err)
				}
			}
		}
		if err := <-waited; err == nil || len(heard.of(env.StepGranted)) > 0 {
			t.Error("another was granted it meanwhile")
		}
		mustRelease(t, h)
		if left := s.left(); len(left) > 0 {
			t.Errorf("%v is left", left)
		}
	})
}

// A write whose reply is lost is found again, and a release whose outcome is unknown is repeated.
func TestObjectLocksWithoutReplies(t *testing.T) {
	eachObjectLock(t, func(t *testing.T, name string) {
		s := newStore()
		once := true
		s.fault = func(r env.StoreRequest) (f fault) {
			switch {
			case r.Op == env.StoreCreate && once:
				once, f.mute = false, env.ErrTimeout
			case r.Op == env.StoreDelete && s.asked[env.StoreDelete] < 3:
				f.lost = env.ErrStoreLost
			}
			return f
		}
		lock, heard := newLocker(t, name, s)
		h := mustLock(t, lock)
		if len(s.left()) != 1 || len(heard.of(env.StepRefused)) > 0 || h.Fence() == 0 {
			t.Errorf("%v, %d tries were refused, fence %d", s.left(), len(heard.of(env.StepRefused)), h.Fence())
		}
		if err := h.Release(t.Context()); !errors.Is(err, rivals.ErrNoAnswer) {
			t.Errorf("released: %v", err)
		}
		pass(200 * ms)
		if left := s.left(); len(left) > 0 {
			t.Errorf("%v is left", left)
		}
	})
}
