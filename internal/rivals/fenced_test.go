package rivals_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/internal/rivals"
)

// Law: all entries of an owner are one hold, with one token and one fence, until the
// last is released.
func TestAllEntriesOfAnOwnerAreOneHold(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newStore()
		lock, heard := newLocker(t, "fenced", s)
		first, second := mustLock(t, lock), mustLock(t, lock)
		if first.Fence() != second.Fence() || first.Token() != second.Token() || len(heard.of(env.StepGranted)) != 1 || len(heard.of(env.StepAcquire)) != 1 {
			t.Errorf("fences %d and %d, %d grants", first.Fence(), second.Fence(), len(heard.of(env.StepGranted)))
		}
		if _, err := lock(context.Background(), "r"); !errors.Is(err, rivals.ErrEntries) {
			t.Errorf("the third of two entries: %v", err)
		}
		mustRelease(t, first)
		if err := first.Release(context.Background()); !errors.Is(err, rivals.ErrReleased) {
			t.Errorf("released twice: %v", err)
		}
		if err := second.Check(); err != nil || len(s.left()) != 1 || len(heard.of(env.StepReleased)) != 0 {
			t.Errorf("one entry is left: %v", err)
		}
		third := mustLock(t, lock)
		mustRelease(t, second)
		mustRelease(t, third)
		if left := s.left(); len(left) > 0 || len(heard.of(env.StepReleased)) != 1 {
			t.Errorf("%v is left", left)
		}
		again := mustLock(t, lock)
		if again.Fence() <= first.Fence() {
			t.Errorf("fence %d after %d", again.Fence(), first.Fence())
		}
		mustRelease(t, again)
	})
}

// A lock that was lost cannot be entered until those who had entered it know.
func TestReentranceAfterALoss(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		s := newStore()
		lock, _ := newLocker(t, "fenced", s)
		first, second := mustLock(t, lock), mustLock(t, lock)
		s.breaks(mute(time.Now(), time.Now().Add(1500*ms)))
		<-first.Context().Done()
		synctest.Wait()
		if _, err := lock(context.Background(), "r"); !errors.Is(err, rivals.ErrExpiring) {
			t.Errorf("entered what is about to end: %v", err)
		}
		pass(time.Second)
		_ = first.Release(context.Background())
		_ = second.Release(context.Background())
		mustRelease(t, mustLock(t, lock))
	})
}
