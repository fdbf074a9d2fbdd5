package redlock_test

import (
	"context"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/internal/rivals"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/redlock"
)

// sequential makes the lock ask one node after another.
func sequential(c *redlock.Config, runtime *env.Runtime, nodes *env.Nodes) {
	*nodes = &rivals.Sequential{Nodes: *nodes, Runtime: *runtime, Timeout: c.NodeTimeout}
	c.NodeTimeout *= time.Duration((*nodes).Len())
}

// Each node is asked when the one before has answered; three of five, 2 ms away and back each, make
// a quorum. The other two are asked in the background.
func TestSequenceAsksOneAfterAnother(t *testing.T) {
	b := playVariant(t, sequential, config(), 5, nil, func(b *bench, m *redlock.Mutex) {
		h := lock(b, m)
		b.want("granted at", b.at(), 6*ms)
		b.sleep(1, 10*ms)
		b.want("keys", b.keys(), 5)
		if err := h.Release(context.Background()); err != nil {
			b.t.Error(err)
		}
		b.sleep(1, 10*ms)
	})
	b.want("keys at the end", b.keys(), 0)
	b.want("replies", b.steps(1, env.StepReply), "2ms 4ms 6ms 18ms 20ms 22ms")
}

// Law: who asks in a sequence decides when the last node has had its turn. (Where two
// clients held two nodes each and the fifth was silent, both waited for it for as long as
// a whole round may take, with their keys in hand: a hunt has found nobody granted
// anything for 13 s.)
func TestSequenceDoesNotWaitTwice(t *testing.T) {
	c := config()
	playVariant(t, sequential, c, 3, nemesis.Plan{partition([]int{1, 2}, nemesis.At(0), nil)}, func(b *bench, m *redlock.Mutex) {
		began := b.at()
		_, err := m.TryLock(context.Background(), "r")
		if took := b.at() - began; err == nil || took > 2*c.NodeTimeout+20*ms {
			t.Errorf("the try ends after %v with %v: want a refusal after the two turns", took, err)
		}
	})
}

// Deletes that are repeated go out at once, so that Close waits for one linger time
// and not for one each.
func TestSequenceClosesInTime(t *testing.T) {
	c := config()
	c.TTL = 100 * time.Second
	playVariant(t, sequential, c, 5, nemesis.Plan{partition([]int{5}, nemesis.At(0), nil)}, func(b *bench, m *redlock.Mutex) {
		for range 100 {
			b.wantError("release", lock(b, m).Release(context.Background()), nil)
		}
		b.sleep(1, 1200*ms)
		began := b.at()
		b.wantError("close", m.Close(context.Background()), nil)
		if took := b.at() - began; took > 500*ms {
			t.Errorf("close took %v", took)
		}
	})
}

func randomTokens(*redlock.Config, *env.Runtime, *env.Nodes) {}

func timeTokens(c *redlock.Config, runtime *env.Runtime, _ *env.Nodes) {
	c.NewToken = rivals.TimeTokens(*runtime, "web-3")
}

// With the simpler token that the algorithm's page proposes, a client can release its own other
// lock: here its wall clock was stepped back to the microsecond of the first try. A refused try
// deletes the keys of its token, which are those of the hold. Random tokens exclude that.
func TestTimeTokenComesTwice(t *testing.T) {
	for _, c := range []struct {
		tokens variant
		left   int
	}{{randomTokens, 5}, {timeTokens, 0}} {
		back := nemesis.Fault{Action: &nemesis.ClockJump{Machine: nemesis.Machine{Client: 1}, By: -100 * ms}, Start: nemesis.At(100*ms - 1)}
		b := playVariant(t, c.tokens, config(), 5, nemesis.Plan{back}, func(b *bench, m *redlock.Mutex) {
			lock(b, m)
			b.sleep(1, 98*ms)
			_, err := m.TryLock(context.Background(), "r")
			b.wantError("second try", err, redlock.ErrTaken)
			b.sleep(1, 10*ms)
			b.want("keys of the hold", b.keys(), c.left)
		})
		_ = b
	}
}
