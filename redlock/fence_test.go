package redlock_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/redlock"
)

func fencing() redlock.Config {
	c := config()
	c.Fence = true
	return c
}

// raise enters a number at some nodes, as another client would.
func raise(b *bench, client int, nodes env.NodeSet, to uint64) {
	r := b.Runtime(client)
	b.Nodes(client).Send(nodes, env.Command{Op: env.OpRaise, Key: "r:fence", Count: to}, r.Now(env.Monotonic).Add(time.Second))
}

// Fences count up from 1, also while two of five nodes are away, and other ones
// the next time. Without the option there is none.
func TestFencesGrow(t *testing.T) {
	plan := nemesis.Plan{
		partition([]int{1, 2}, nemesis.At(0), nemesis.After(100*ms)),
		partition([]int{4, 5}, nemesis.At(200*ms), nil),
	}
	playWith(t, fencing(), 5, plan, func(b *bench, m *redlock.Mutex) {
		for want := uint64(1); want <= 6; want++ {
			h := lock(b, m)
			b.want("fence", h.Fence(), want)
			b.wantError("release", h.Release(context.Background()), nil)
			b.sleep(1, 50*ms)
		}
	})
	play(t, nil, func(b *bench, m *redlock.Mutex) { b.want("no fence", lock(b, m).Fence(), 0) })
}

// A fence costs two more round trips, of 2 ms each; the validity is checked
// before and after.
func TestFenceTakesTwoRoundTrips(t *testing.T) {
	b := playWith(t, fencing(), 5, nil, func(b *bench, m *redlock.Mutex) {
		lock(b, m)
		b.want("granted at", b.at(), 6*ms)
		b.sleep(1, 10*ms)
	})
	b.want("checks", b.steps(1, env.StepBeforeCheck), "2ms 6ms")
}

// The highest of what a quorum has is what counts, and what others enter
// meanwhile: it takes another round trip.
func TestFenceIsAboveAllOthers(t *testing.T) {
	playWith(t, fencing(), 5, nil, func(b *bench, m *redlock.Mutex) {
		raise(b, 1, env.SetOf(3), 41)
		b.sleep(1, 10*ms)
		h := lock(b, m)
		b.want("fence", h.Fence(), 42)
		b.wantError("release", h.Release(context.Background()), nil)
		b.sleep(1, 30*ms-b.at())
		// Read from 31 ms on, raised at 33 ms on the nodes.
		b.want("fence that was overtaken", lock(b, m).Fence(), 51)
		b.want("granted at", b.at(), 38*ms)
	}, func(b *bench, _ *redlock.Mutex) {
		b.sleep(2, 32500*time.Microsecond)
		raise(b, 2, env.AllNodes(5), 50)
		b.sleep(2, 10*ms)
	})
}

// A hold whose validity ends while its fence is drawn is none: its successor may
// have a lower one. Nothing is left of it.
func TestValidityIsCheckedAfterTheFence(t *testing.T) {
	pause := nemesis.Fault{Action: &nemesis.Pause{Client: 1}, Start: nemesis.At(5 * ms), End: nemesis.After(2 * time.Second)}
	b := playWith(t, fencing(), 5, nemesis.Plan{pause}, func(b *bench, m *redlock.Mutex) {
		_, err := m.TryLock(context.Background(), "r")
		b.wantError("paused before the last replies", err, redlock.ErrValidity)
		b.sleep(1, 10*ms)
	})
	b.want("keys left", b.keys(), 0)
}

// Without a quorum of counters there is no fence, and so no grant.
func TestNoFenceNoGrant(t *testing.T) {
	cut := partition([]int{1, 2, 3}, nemesis.When(1, env.StepQuorum, 0), nemesis.After(300*ms))
	b := playWith(t, fencing(), 5, nemesis.Plan{cut}, func(b *bench, m *redlock.Mutex) {
		_, err := m.TryLock(context.Background(), "r")
		b.wantError("a majority is away", err, redlock.ErrNoQuorum)
		b.sleep(1, time.Second)
	})
	b.want("keys left", b.keys(), 0)
}

// A number that a minority accepts, without replies of the others, is given up after a node
// timeout, and not raised until the validity ends.
func TestFenceIsGivenUpInTime(t *testing.T) {
	cut := partition([]int{1, 2, 3}, nemesis.At(4500*time.Microsecond), nil) // between reading and raising
	playWith(t, fencing(), 5, nemesis.Plan{cut}, func(b *bench, m *redlock.Mutex) {
		_, err := m.TryLock(context.Background(), "r")
		b.wantError("a majority is away", err, redlock.ErrNoQuorum)
		b.want("given up at", b.at(), 54*ms)
	})
}

// A fence can come from elsewhere. It is drawn between two validity checks, and
// the nodes have no counter then.
func TestFenceFromElsewhere(t *testing.T) {
	c, next := fencing(), uint64(40)
	var asked []string
	c.FenceFrom = func(_ context.Context, resource string, until env.Instant) (uint64, error) {
		asked = append(asked, fmt.Sprint(resource, " until ", time.Duration(until)))
		next++
		return next, nil
	}
	b := playWith(t, c, 5, nil, func(b *bench, m *redlock.Mutex) {
		h := lock(b, m)
		b.want("granted at", b.at(), 2*ms)
		b.want("fence", h.Fence(), 41)
		b.wantError("release", h.Release(context.Background()), nil)
		b.sleep(1, 10*ms)
		b.want("the next fence", lock(b, m).Fence(), 42)
	})
	b.want("asked", asked[0], "r until 988ms")
	b.want("checks", b.steps(1, env.StepBeforeCheck), "2ms 2ms 16ms 16ms")
}

// Without a fence there is no grant, and no key is left; Lock tries again, unless
// its context has ended.
func TestNoFenceFromElsewhereNoGrant(t *testing.T) {
	c := fencing()
	ctx, cancel := context.WithCancel(context.Background())
	away := errors.New("the database is away")
	answers := []func() (uint64, error){
		func() (uint64, error) { return 0, away },
		func() (uint64, error) { return 0, nil },
		func() (uint64, error) { return 7, nil },
		func() (uint64, error) { cancel(); return 0, away },
	}
	c.FenceFrom = func(context.Context, string, env.Instant) (uint64, error) {
		next := answers[0]
		answers = answers[1:]
		return next()
	}
	b := playWith(t, c, 5, nil, func(b *bench, m *redlock.Mutex) {
		_, err := m.TryLock(ctx, "r")
		b.wantError("try", err, redlock.ErrNoFence)
		b.wantError("try", err, away)
		b.sleep(1, 10*ms)
		h, err := m.Lock(ctx, "r")
		b.wantError("lock", err, nil)
		b.want("fence", h.Fence(), 7)
		b.wantError("release", h.Release(ctx), nil)
		b.sleep(1, 10*ms)
		_, err = m.Lock(ctx, "r")
		b.wantError("lock, cancelled meanwhile", err, context.Canceled)
		b.sleep(1, 10*ms)
	})
	b.want("keys left", b.keys(), 0)
}

// A source whose answer comes after the validity has brought no fence.
func TestSlowFenceFromElsewhere(t *testing.T) {
	c := fencing()
	var b *bench
	c.FenceFrom = func(ctx context.Context, _ string, until env.Instant) (uint64, error) {
		return 1, b.Runtime(1).Sleep(ctx, until)
	}
	playWith(t, c, 5, nil, func(bench *bench, m *redlock.Mutex) {
		b = bench
		_, err := m.TryLock(context.Background(), "r")
		b.wantError("try", err, redlock.ErrValidity)
	})
	c.Fence = false
	if err := c.Validate(); !errors.Is(err, redlock.ErrConfig) {
		t.Errorf("a source of what is not drawn: %v", err)
	}
}
