package redlock_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/redlock"
)

// unwilling makes node 5 answer everything with an error.
func unwilling(start time.Duration, end *nemesis.Trigger) nemesis.Plan {
	return nemesis.Plan{{Action: &nemesis.NodeError{Nodes: []int{5}, Error: nemesis.Loading}, Start: nemesis.At(start), End: end}}
}

// deletes counts the deletes that were sent to node 5.
type deletes struct {
	env.Nodes
	sent int
}

func (d *deletes) Send(to env.NodeSet, c env.Command, giveUp env.Instant) env.Round {
	if c.Op == env.OpDelete && to.Has(5) {
		d.sent++
	}
	return d.Nodes.Send(to, c, giveUp)
}

// whenGone returns when node 5's key was gone.
func (b *bench) whenGone() time.Duration {
	for _, e := range b.log {
		if e.Kind == history.KeyGone && e.Node == 5 {
			return time.Duration(e.Time).Round(ms)
		}
	}
	return 0
}

// A node that has refused SET has no key, and is never asked to delete it, while the others are.
func TestNodeThatFailedToSetIsNotAskedToDelete(t *testing.T) {
	for _, c := range []struct {
		refuse []int
		want   int
	}{{[]int{3, 4, 5}, 0}, {[]int{1, 2, 3}, 1}} {
		fault := nemesis.Fault{Action: &nemesis.NodeError{Nodes: c.refuse, Error: nemesis.Loading}, Start: nemesis.At(0)}
		var counting *deletes
		b := play(t, nemesis.Plan{fault}, func(b *bench, _ *redlock.Mutex) {
			counting = &deletes{Nodes: b.Nodes(1)}
			m, err := redlock.New(config(), b.Runtime(1), counting, nil)
			b.wantError("new", err, nil)
			_, err = m.TryLock(context.Background(), "r")
			b.wantError("try", err, redlock.ErrNoQuorum)
			b.sleep(1, 2*time.Second) // longer than any key lives
			b.wantError("close", m.Close(context.Background()), nil)
		})
		b.want(fmt.Sprintf("nodes %v refuse: deletions asked of node 5", c.refuse), counting.sent, c.want)
		b.want(fmt.Sprintf("nodes %v refuse: keys left", c.refuse), b.keys(), 0)
	}
}

// A delete that a node rejects or does not answer is repeated: here at 222 ms, in vain, and at 624
// ms.
func TestDeleteIsRepeatedUntilItIsAnswered(t *testing.T) {
	release := func(b *bench, m *redlock.Mutex) {
		h := lock(b, m)
		b.sleep(1, 18*ms)
		b.wantError("release", h.Release(context.Background()), nil)
		b.sleep(1, 1200*ms)
	}
	b := play(t, unwilling(10*ms, nemesis.After(490*ms)), release)
	b.want("refused: gone at", b.whenGone(), 625*ms)

	b = play(t, unwilling(10*ms, nil), release)
	b.want("refused for good: expired at", b.whenGone(), 1002*ms)

	// So is a node on which a refused try has set a key.
	b = play(t, unwilling(1500*time.Microsecond, nemesis.After(100*ms)), func(b *bench, m *redlock.Mutex) {
		giveUp(b, m)
		b.sleep(1, 900*ms)
	})
	b.want("a try: gone at", b.whenGone(), 205*ms)
}

// The intervals double, and end when the key has expired anyway.
func TestDeleteIsNotRepeatedForEver(t *testing.T) {
	var counting *deletes
	play(t, unwilling(10*ms, nil), func(b *bench, _ *redlock.Mutex) {
		counting = &deletes{Nodes: b.Nodes(1)}
		m, err := redlock.New(config(), b.Runtime(1), counting, nil)
		b.wantError("new", err, nil)
		h := lock(b, m)
		b.sleep(1, 18*ms)
		b.wantError("release", h.Release(context.Background()), nil)
		b.sleep(1, 10*time.Second)
	})
	if counting.sent != 3 { // at 20, 222 and 624 ms
		t.Errorf("%d deletes were sent", counting.sent)
	}
}

// An extension gives the keys a longer life, and so the deletes more time.
func TestDeleteIsRepeatedForTheLongestLife(t *testing.T) {
	b := play(t, unwilling(500*ms, nemesis.After(2*time.Second)), func(b *bench, m *redlock.Mutex) {
		h := lock(b, m)
		b.wantError("extend", h.Extend(context.Background(), 10*time.Second), nil)
		b.sleep(1, 600*ms)
		b.wantError("release", h.Release(context.Background()), nil)
		b.sleep(1, 5*time.Second)
	})
	b.want("gone at", b.whenGone(), 3613*ms)
}

// Close does not wait for what a dead node may say one day. It looks every millisecond
// whether the rest has ended, here at 32 ms.
func TestCloseEndsTheRepetition(t *testing.T) {
	play(t, unwilling(10*ms, nil), func(b *bench, m *redlock.Mutex) {
		h := lock(b, m)
		b.sleep(1, 18*ms)
		b.wantError("release", h.Release(context.Background()), nil)
		b.sleep(1, 10*ms)
		b.wantError("close", m.Close(context.Background()), nil)
		b.want("closed at", b.at(), 33*ms)
	})
}
