package redlock_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/redlock"
)

// quarantined has a quarantine as long as its TTL, a second.
func quarantined() redlock.Config {
	c := config()
	c.Quarantine = time.Second
	return c
}

// without cuts client 1 off from nodes 4 and 5, so that it needs all others.
var without = partition([]int{4, 5}, nemesis.At(0), nil)

// try tries once and says whether the lock was granted; if so it is released.
func try(b *bench, m *redlock.Mutex) error {
	h, err := m.TryLock(context.Background(), "r")
	if err == nil {
		b.wantError("release", h.Release(context.Background()), nil)
	}
	return err
}

// Nobody knows how long the nodes have been running, at first: the lock cannot be
// had before they have been watched for the quarantine. Then the one client
// vouches for them to the other, which has never seen them.
func TestQuarantineOfUnknownNodes(t *testing.T) {
	b := playWith(t, quarantined(), 5, nil, func(b *bench, m *redlock.Mutex) {
		err := try(b, m)
		b.wantError("at first", err, redlock.ErrNoQuorum)
		var quorum *redlock.QuorumError
		if !errors.As(err, &quorum) || !errors.Is(quorum.Replies[0].Err, redlock.ErrQuarantined) {
			t.Errorf("node 1 is not said to be in quarantine: %v", err)
		}
		h := lock(b, m)
		if b.at() < time.Second || b.at() > 1030*ms {
			t.Errorf("granted at %v", b.at())
		}
		b.wantError("release", h.Release(context.Background()), nil)
	}, func(b *bench, m *redlock.Mutex) {
		b.sleep(2, 1500*ms)
		b.wantError("a newcomer", try(b, m), nil)
	})
	b.want("keys left", b.keys(), 0)
}

// A restarted node does not vote until its new run has been known for the quarantine, whatever was
// known of the old run.
func TestQuarantineAfterRestart(t *testing.T) {
	restart := crash(3, nemesis.At(2*time.Second), nemesis.After(0))
	newcomer := func(want error) func(b *bench, m *redlock.Mutex) {
		return func(b *bench, m *redlock.Mutex) {
			b.sleep(2, 2020*ms)
			b.wantError("a newcomer after the restart", try(b, m), want)
		}
	}
	for _, c := range []struct {
		config redlock.Config
		want   error
	}{{quarantined(), redlock.ErrNoQuorum}, {config(), nil}} {
		all := partition([]int{4, 5}, nemesis.At(0), nil)
		all.Action.(*nemesis.Partition).Clients = nil // of all clients
		playWith(t, c.config, 5, nemesis.Plan{all, restart}, func(b *bench, m *redlock.Mutex) {
			b.wantError("before", lock(b, m).Release(context.Background()), nil)
			b.sleep(1, 2100*ms-b.at())
			b.wantError("after the restart", try(b, m), c.want)
			b.sleep(1, 3095*ms-b.at())
			b.wantError("just before the quarantine ends", try(b, m), c.want)
			b.sleep(1, 3110*ms-b.at())
			b.wantError("when it has ended", try(b, m), nil)
		}, newcomer(c.want))
	}
}

// The age of a run counts when the SET is sent, not when its reply is read: the
// SET was carried out in between, when the run was still too young. Here the run
// was first seen 0.9 s before the SET, and the client stands still for 0.2 s with
// the replies in its sockets.
func TestQuarantineIsMeasuredBeforeTheSend(t *testing.T) {
	plan := nemesis.Plan{
		without,
		crash(3, nemesis.At(2*time.Second), nemesis.After(0)),
		{Action: &nemesis.Pause{Client: 1}, Start: nemesis.At(3001500 * time.Microsecond), End: nemesis.After(200 * ms)},
	}
	playWith(t, quarantined(), 5, plan, func(b *bench, m *redlock.Mutex) {
		b.wantError("before", lock(b, m).Release(context.Background()), nil)
		b.sleep(1, 2100*ms-b.at())
		b.wantError("first sight", try(b, m), redlock.ErrNoQuorum)
		b.sleep(1, 3000*ms-b.at())
		b.wantError("over the pause", try(b, m), redlock.ErrNoQuorum)
		b.wantError("right after it", try(b, m), nil)
	})
}

// A yes that does not count has set a key all the same, which has to go when the
// try fails, and stays with a hold.
func TestQuarantinedKeysAreDeleted(t *testing.T) {
	restart := crash(5, nemesis.At(2*time.Second), nemesis.After(0))
	b := playWith(t, quarantined(), 5, nemesis.Plan{restart}, func(b *bench, m *redlock.Mutex) {
		_ = try(b, m)
		b.sleep(1, 10*ms)
		b.want("keys of the failed try", b.keys(), 0)
		b.sleep(1, 2100*ms-b.at())
		h := lock(b, m)
		b.sleep(1, 10*ms)
		b.want("keys of the hold", b.keys(), 5)
		b.wantError("release", h.Release(context.Background()), nil)
		b.sleep(1, 10*ms) // node 5 has to be given the script again
	})
	b.want("keys left", b.keys(), 0)
}

// Nodes 4 and 5 have voted for client 2, which still waits for node 3, and forget
// that in a restart. Client 1 is granted the lock by 1, 2 and 3 and sets its keys on
// 4 and 5 too, where they do not count; cut off from 2 and 3 it must not go on with
// them, because client 2 is granted the lock when the keys on 2 and 3 expire.
func TestQuarantineOfExtensions(t *testing.T) {
	cut := func(client int, nodes []int, from, to time.Duration) nemesis.Fault {
		return nemesis.Fault{
			Action: &nemesis.Partition{Links: nemesis.Links{Clients: []int{client}, Nodes: nodes}},
			Start:  nemesis.At(from), End: nemesis.After(to - from),
		}
	}
	plan := nemesis.Plan{
		cut(2, []int{1, 2}, 1999*ms, 4500*ms), cut(2, []int{3}, 1999*ms, 2045*ms),
		crash(4, nemesis.At(2003*ms), nemesis.After(0)), crash(5, nemesis.At(2003*ms), nemesis.After(0)),
		cut(1, []int{2, 3}, 2015*ms, 4500*ms),
	}
	short := quarantined()
	short.TTL, short.NodeTimeout, short.Linger, short.Margin = 40*ms, 10*ms, 10*ms, 2*ms
	var until env.Instant // of client 1
	playWith(t, quarantined(), 5, plan, func(b *bench, _ *redlock.Mutex) {
		m, err := redlock.New(short, b.Runtime(1), b.Nodes(1), nil)
		b.wantError("new", err, nil)
		_ = try(b, m)
		b.sleep(1, 1500*ms-b.at())
		b.wantError("watched", try(b, m), nil)
		b.sleep(1, 2004*ms-b.at())
		h, err := m.TryLock(context.Background(), "r")
		b.wantError("client 1", err, nil)
		b.sleep(1, 2018*ms-b.at())
		b.wantError("extend", h.Extend(context.Background(), time.Second), redlock.ErrNoQuorum)
		until = h.Until()
	}, func(b *bench, m *redlock.Mutex) {
		b.sleep(2, 2000*ms)
		_, err := m.TryLock(context.Background(), "r")
		b.wantError("client 2", err, nil)
		if now := b.Runtime(2).Now(env.Monotonic); now < until {
			b.t.Errorf("granted at %v, while client 1 holds until %v", time.Duration(now), time.Duration(until))
		}
	})
}
