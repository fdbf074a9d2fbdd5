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

// An extension lets the key and the hold live on, and leaves the fence as it is.
func TestExpiringKeyIsExtended(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newStore()
		lock, _ := newLocker(t, "expiring-key", s)
		h := mustLock(t, lock)
		fence := h.Fence()
		for range 5 {
			pass(700 * ms)
			before := h.Until()
			if err := h.Extend(t.Context(), time.Second); err != nil || h.Until() <= before || h.Check() != nil || h.Fence() != fence {
				t.Errorf("extended: %v, valid until %v after %v, check %v, fence %d after %d", err, h.Until(), before, h.Check(), h.Fence(), fence)
			}
		}
		mustRelease(t, h)
		if left := s.left(); len(left) > 0 {
			t.Errorf("%v is left", left)
		}
	})
}

// A renewal whose reply is lost changes the revision: the next extension and the release find it.
func TestRenewalWithoutAReply(t *testing.T) {
	for _, then := range []string{"extend", "release", "release without a reply"} {
		inBubble(t, func(t *testing.T) {
			s := newStore()
			lock, _ := newLocker(t, "expiring-key", s)
			h := mustLock(t, lock)
			s.breaks(func(r env.StoreRequest) (f fault) {
				if r.Op == env.StoreRenew {
					f.mute = env.ErrStoreLost
				}
				return f
			})
			if err := h.Extend(t.Context(), time.Second); !errors.Is(err, rivals.ErrNoAnswer) {
				t.Errorf("extended: %v", err)
			}
			s.breaks(nil)
			switch then {
			case "extend":
				if err := h.Extend(t.Context(), time.Second); err != nil {
					t.Errorf("extended again: %v", err)
				}
				mustRelease(t, h)
			case "release":
				mustRelease(t, h)
			default:
				s.breaks(func(r env.StoreRequest) (f fault) {
					if r.Op == env.StoreDelete && s.asked[env.StoreDelete] == 1 {
						f.lost = env.ErrStoreLost
					}
					return f
				})
				if err := h.Release(t.Context()); !errors.Is(err, rivals.ErrNoAnswer) {
					t.Errorf("released: %v", err)
				}
				pass(300 * ms)
			}
			if left := s.left(); len(left) > 0 {
				t.Errorf("then %s: %v is left", then, left)
			}
		})
	}
}

// Extensions at the same time, and a release, do not take each other's revision for a loss.
func TestExtensionsAtTheSameTime(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newStore()
		lock, heard := newLocker(t, "expiring-key", s)
		h := mustLock(t, lock)
		var calls sync.WaitGroup
		for range 4 {
			calls.Go(func() {
				if err := h.Extend(t.Context(), time.Second); err != nil {
					t.Errorf("extended: %v", err)
				}
			})
		}
		calls.Wait()
		calls.Go(func() { _ = h.Extend(t.Context(), time.Second) })
		calls.Go(func() { mustRelease(t, h) })
		calls.Wait()
		if left, lost := s.left(), heard.of(env.StepLost); len(left) > 0 || len(lost) > 0 {
			t.Errorf("%v is left, lost %v", left, lost)
		}
	})
}

// An extension that others overtake each time ends with an error, a TTL after its begin; the hold goes on.
func TestOvertakenExtensionEnds(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newStore()
		lock, heard := newLocker(t, "expiring-key", s)
		h := mustLock(t, lock)
		s.breaks(func(r env.StoreRequest) fault {
			if e := s.entries[r.Key]; r.Op == env.StoreRenew {
				e.Revision++ // by a renewal that was ahead
				s.entries[r.Key] = e
				s.expiry[r.Key] = time.Now().Add(time.Second)
			}
			return fault{}
		})
		began := time.Now()
		err := h.Extend(t.Context(), time.Second)
		if took := time.Since(began); err == nil || errors.Is(err, rivals.ErrLost) || took < time.Second || took > 1100*ms {
			t.Errorf("after %v: %v", took, err)
		}
		s.breaks(nil)
		mustRelease(t, h)
		if lost := heard.of(env.StepLost); len(lost) > 0 {
			t.Errorf("lost: %v", lost)
		}
	})
}

// A key that has expired is lost, and not renewed; nor is another's.
func TestExpiredKeyIsLost(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newStore()
		lock, heard := newLocker(t, "expiring-key", s)
		h := mustLock(t, lock)
		pass(1100 * ms)
		other, _ := newLocker(t, "expiring-key", s)
		next := mustLock(t, other)
		if err := h.Extend(t.Context(), time.Second); !errors.Is(err, rivals.ErrLost) {
			t.Errorf("extended: %v", err)
		}
		if err := h.Release(t.Context()); !errors.Is(err, rivals.ErrLost) || heard.of(env.StepReleased)[0].Answer != env.No {
			t.Errorf("released: %v", err)
		}
		synctest.Wait()
		if left := s.left(); len(left) != 1 || left[0].Value != next.Token() || next.Fence() <= h.Fence() {
			t.Errorf("%v is left, fence %d after %d", left, next.Fence(), h.Fence())
		}
		if err := next.Release(context.Background()); err != nil {
			t.Error(err)
		}
	})
}

// A store that has lost its last changes has an earlier revision of the key. The hold goes on
// with that.
func TestRevisionGoesBack(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newStore()
		lock, _ := newLocker(t, "expiring-key", s)
		h := mustLock(t, lock)
		before := s.left()[0]
		for _, then := range []func(context.Context) error{func(ctx context.Context) error { return h.Extend(ctx, time.Second) }, h.Release} {
			if err := h.Extend(t.Context(), time.Second); err != nil {
				t.Fatal(err)
			}
			s.mu.Lock()
			s.entries[before.Key] = before
			s.mu.Unlock()
			if err := then(t.Context()); err != nil {
				t.Error(err)
			}
		}
		if left := s.left(); len(left) > 0 {
			t.Errorf("%v is left", left)
		}
	})
}
