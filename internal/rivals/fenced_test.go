package rivals_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/internal/rivals"
	"github.com/lockstorm/lockstorm/nemesis"
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

// fencesOf are the fences of a client.
func fencesOf(b *bench, client int) rivals.Fences {
	return rivals.Fences{Runtime: b.Runtime(client), Nodes: b.Nodes(client), NodeTimeout: 50 * ms}
}

// reaching cuts a client off from all of five nodes but some.
func reaching(client int, nodes env.NodeSet) nemesis.Fault {
	var others []int
	for n := 1; n <= 5; n++ {
		if !nodes.Has(n) {
			others = append(others, n)
		}
	}
	return nemesis.Fault{Action: &nemesis.Partition{Links: nemesis.Links{Clients: []int{client}, Nodes: others}}, Start: nemesis.At(0)}
}

// The highest of a majority of counters does not grow, though no node forgets
// anything: three majorities of five, one after another, give 1, 2 and 2.
func TestIncrementEverywhereDoesNotGrow(t *testing.T) {
	plan := nemesis.Plan{reaching(1, env.SetOf(1, 2, 3)), reaching(2, env.SetOf(1, 4, 5)), reaching(3, env.SetOf(2, 3, 4))}
	fences := make([]uint64, 3)
	b := playOn(t, 5, func(b *bench, client int) {
		b.sleep(client, time.Duration(client)*10*ms) // one after another
		fence, err := fencesOf(b, client).IncrementEverywhere(background, "r", env.Never)
		b.wantError("fence", err, nil)
		fences[client-1] = fence
	}, 3, plan)
	b.want("fences", fences, []uint64{1, 2, 2})
	b.want("keys of locks", b.keys(), "")
}

// One node's counter grows with every request; each resource has its own.
func TestOneNodeGrows(t *testing.T) {
	b := playOn(t, 5, func(b *bench, client int) {
		for want := range uint64(3) {
			b.sleep(client, 10*ms)
			fence, err := fencesOf(b, client).OneNode(background, "r", env.Never)
			b.wantError("fence", err, nil)
			b.want("fence", fence, want+1)
		}
		fence, err := fencesOf(b, client).OneNode(background, "another", env.Never)
		b.wantError("fence", err, nil)
		b.want("fence of another", fence, 1)
	}, 1, nil)
	b.want("keys of locks", b.keys(), "")
}

// A fence that cannot be drawn fails at once if every node says so, and otherwise after the
// patience.
func TestNoFence(t *testing.T) {
	down := func(node int) nemesis.Fault {
		return nemesis.Fault{Action: &nemesis.Crash{Node: node}, Start: nemesis.At(0)}
	}
	playOn(t, 5, func(b *bench, client int) {
		b.sleep(client, 10*ms)
		_, err := fencesOf(b, client).OneNode(background, "r", env.Never)
		b.wantError("one node, which is down", err, rivals.ErrNoAnswer)
		b.want("known at", b.at(), 12*ms)
		fence, err := fencesOf(b, client).IncrementEverywhere(background, "r", env.Never)
		b.wantError("three of five", err, nil)
		b.want("fence", fence, 1)
		b.sleep(client, 100*ms)
		began := b.at()
		_, err = fencesOf(b, client).IncrementEverywhere(background, "r", env.Never)
		b.wantError("two of five", err, rivals.ErrNoAnswer)
		b.want("waited for", b.at()-began, 50*ms)
	}, 1, nemesis.Plan{down(1), down(2), {Action: &nemesis.Partition{Links: nemesis.Links{Nodes: []int{3}}}, Start: nemesis.At(50 * ms)}})
}
