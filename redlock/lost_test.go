package redlock_test

import (
	"context"
	"testing"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/redlock"
)

// A SET whose connection broke before the quorum, and that lands after the
// release, is deleted again.
func TestSetLostBeforeTheQuorumIsDeletedAgain(t *testing.T) {
	b := play(t, nil, func(b *bench, _ *redlock.Mutex) {
		m, err := redlock.New(config(), b.Runtime(1), &breaking{Nodes: b.Nodes(1), b: b}, nil)
		b.wantError("new", err, nil)
		h := lock(b, m)
		b.wantError("release", h.Release(context.Background()), nil)
		b.sleep(1, 500*ms)
		b.wantError("close", m.Close(context.Background()), nil)
	})
	b.want("keys left", b.keys(), 0)
}

// The same where the try is refused.
func TestSetLostBeforeARefusalIsDeletedAgain(t *testing.T) {
	plan := nemesis.Plan{crash(1, nemesis.At(0), nil), crash(2, nemesis.At(0), nil), crash(3, nemesis.At(0), nil)}
	b := play(t, plan, func(b *bench, _ *redlock.Mutex) {
		b.sleep(1, ms)
		m, err := redlock.New(config(), b.Runtime(1), &breaking{Nodes: b.Nodes(1), b: b}, nil)
		b.wantError("new", err, nil)
		_, err = m.TryLock(context.Background(), "r")
		b.wantError("try", err, redlock.ErrNoQuorum)
		b.sleep(1, 500*ms)
		b.wantError("close", m.Close(context.Background()), nil)
	})
	b.want("keys left", b.keys(), 0)
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
