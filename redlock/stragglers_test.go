package redlock_test

import (
	"context"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/redlock"
)

// slowly lets messages to and from a node take longer for a while.
func slowly(node int, by, start, end time.Duration) nemesis.Fault {
	return nemesis.Fault{
		Action: &nemesis.Latency{Links: nemesis.Links{Nodes: []int{node}}, Add: nemesis.Distribution{Range: nemesis.Range{Min: by, Max: by}}},
		Start:  nemesis.At(start), End: &nemesis.Trigger{At: end},
	}
}

// giveUp tries, and cancels the try when all nodes have received it and none has replied.
func giveUp(b *bench, m *redlock.Mutex) {
	ctx, cancel := context.WithCancel(context.Background())
	b.Runtime(1).Go("cancel", func() {
		b.sleep(1, 1600*time.Microsecond)
		cancel()
	})
	_, err := m.TryLock(ctx, "r")
	b.wantError("cancelled", err, context.Canceled)
}

// A node gets one deletion if that finds the key, and a second one if it overtook the SET, whether
// a hold is released, whose quorum is there at 2 ms, or a try is given up.
func TestDeletionIsRepeatedIfItCameTooEarly(t *testing.T) {
	release := func(b *bench, m *redlock.Mutex) {
		b.wantError("release", lock(b, m).Release(context.Background()), nil)
	}
	set := func(late time.Duration) nemesis.Fault { return slowly(5, late, 0, ms) }
	for _, c := range []struct {
		what  string
		end   func(*bench, *redlock.Mutex)
		plan  nemesis.Plan // what is late: the SET to node 5, the answer to its deletion
		asked int
	}{
		{"released, deleted", release, nemesis.Plan{set(500 * time.Microsecond)}, 1},
		{"released, overtaken", release, nemesis.Plan{set(5 * ms)}, 2},
		{"released, overtaken, which is told last", release, nemesis.Plan{set(3 * ms), slowly(5, 5*ms, 2500*time.Microsecond, 3500*time.Microsecond)}, 2},
		{"given up, deleted", giveUp, nemesis.Plan{set(500 * time.Microsecond)}, 1},
		{"given up, overtaken", giveUp, nemesis.Plan{set(5 * ms)}, 2},
	} {
		var counting *deletes
		b := play(t, c.plan, func(b *bench, _ *redlock.Mutex) {
			counting = &deletes{Nodes: b.Nodes(1)}
			m, err := redlock.New(config(), b.Runtime(1), counting, nil)
			b.wantError("new", err, nil)
			c.end(b, m)
			b.wantError("close", m.Close(context.Background()), nil)
		})
		b.want(c.what+": deletions asked for", counting.sent, c.asked)
		b.want(c.what+": keys left", b.keys(), 0)
	}
}

// A SET that arrives after the release's DELETE, and whose reply comes during the release, is
// deleted after the release's reply.
func TestSetHeardOfDuringTheRelease(t *testing.T) {
	due := 1500 * time.Microsecond
	plan := nemesis.Plan{slowly(5, 10*ms, 0, due), slowly(3, 20*ms, due, 5*ms), slowly(4, 20*ms, due, 5*ms)}
	b := play(t, plan, func(b *bench, m *redlock.Mutex) {
		h := lock(b, m)
		b.wantError("release", h.Release(context.Background()), nil)
		b.want("answered", b.at(), 24*ms)
		b.wantError("close", m.Close(context.Background()), nil)
		b.sleep(1, 500*ms)
	})
	b.want("keys left", b.keys(), 0)
}

// A SET that was given up before the release, and lands after it, is deleted
// once more.
func TestSetGivenUpBeforeTheRelease(t *testing.T) {
	b := play(t, nemesis.Plan{slowly(5, 299*ms, 0, 1500*time.Microsecond)}, func(b *bench, m *redlock.Mutex) {
		h := lock(b, m)
		b.sleep(1, 230*ms) // answers are given up after 200 ms; the SET lands at 300 ms
		b.wantError("release", h.Release(context.Background()), nil)
		b.wantError("close", m.Close(context.Background()), nil)
		b.sleep(1, 500*ms)
	})
	b.want("keys left", b.keys(), 0)
}

// A SET whose connection broke before the decision, and that lands after the release of a hold, or
// after a refusal, is deleted again.
func TestSetLostBeforeTheDecisionIsDeletedAgain(t *testing.T) {
	refused := nemesis.Plan{crash(1, nemesis.At(0), nil), crash(2, nemesis.At(0), nil), crash(3, nemesis.At(0), nil)}
	for _, plan := range []nemesis.Plan{nil, refused} {
		b := play(t, plan, func(b *bench, _ *redlock.Mutex) {
			b.sleep(1, ms)
			m, err := redlock.New(config(), b.Runtime(1), &breaking{Nodes: b.Nodes(1), b: b}, nil)
			b.wantError("new", err, nil)
			h, err := m.TryLock(context.Background(), "r")
			b.want("granted", err == nil, plan == nil)
			if err == nil {
				b.wantError("release", h.Release(context.Background()), nil)
			}
			b.sleep(1, 500*ms)
			b.wantError("close", m.Close(context.Background()), nil)
		})
		b.want("keys left", b.keys(), 0)
	}
}

// breaking breaks the connection of the first request to node 5, which arrives
// 50 ms later all the same: a proxy on the way did that, say.
type breaking struct {
	env.Nodes
	b      *bench
	broken bool
}

func (n *breaking) Send(to env.NodeSet, c env.Command, giveUp env.Instant) env.Round {
	if n.broken {
		return n.Nodes.Send(to, c, giveUp)
	}
	n.broken = true
	n.b.Runtime(1).Go("late", func() {
		n.b.sleep(1, 50*ms)
		n.Nodes.Send(env.SetOf(5), c, env.Never)
	})
	return &brokenRound{Round: n.Nodes.Send(to.Without(5), c, giveUp)}
}

type brokenRound struct {
	env.Round
	told bool
}

func (r *brokenRound) Next(ctx context.Context, until env.Instant) (env.Reply, error) {
	if !r.told {
		r.told = true
		return env.Reply{Node: 5, Answer: env.Lost}, nil
	}
	return r.Round.Next(ctx, until)
}
