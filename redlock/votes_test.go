package redlock_test

import (
	"context"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/redlock"
)

// until sleeps until a time since the start of the run.
func (b *bench) until(at time.Duration) { b.sleep(1, at-b.at()) }

// A yes to an extension that comes after its grant is no vote in the next extension: of five nodes
// two receive that one, and three would have to agree.
func TestLateYesCountsForNoOtherExtension(t *testing.T) {
	play(t, nemesis.Plan{slowly(5, 5*ms, 100*ms, 110*ms), partition([]int{3, 4, 5}, nemesis.At(150*ms), nil)}, func(b *bench, m *redlock.Mutex) {
		h := lock(b, m)
		b.until(100 * ms)
		b.wantError("extend", h.Extend(context.Background(), config().TTL), nil) // nodes 4 and 5 agree when that is over
		until := h.Until()
		b.until(200 * ms)
		b.wantError("extend where two hear of it", h.Extend(context.Background(), config().TTL), redlock.ErrNoQuorum)
		b.want("end of validity", h.Until(), until)
	})
}

// sends counts the requests to node 1.
type sends struct {
	env.Nodes
	of     [env.Ops]int
	native [env.Ops]int // those that allow native commands
}

func (s *sends) Send(to env.NodeSet, c env.Command, giveUp env.Instant) env.Round {
	if to.Has(1) {
		s.of[c.Op]++
		if c.Native {
			s.native[c.Op]++
		}
	}
	return s.Nodes.Send(to, c, giveUp)
}

// A node has one vote, however late it is: of the two nodes that can be reached one answers
// after more than half of the patience, when a second request would have been answered too.
func TestSlowNodeHasOneVote(t *testing.T) {
	late := func(at time.Duration) nemesis.Fault { return slowly(1, 30*ms, at, at+5*ms) }
	play(t, nemesis.Plan{late(0), late(100 * ms), partition([]int{3, 4, 5}, nemesis.At(90*ms), nil), late(300 * ms)}, func(b *bench, _ *redlock.Mutex) {
		counting := &sends{Nodes: b.Nodes(1)}
		m, err := redlock.New(config(), b.Runtime(1), counting, nil)
		b.wantError("new", err, nil)
		h := lock(b, m)
		b.until(100 * ms)
		b.wantError("extend", h.Extend(context.Background(), config().TTL), redlock.ErrNoQuorum)
		b.until(300 * ms)
		_, err = m.TryLock(context.Background(), "another")
		b.wantError("try", err, redlock.ErrNoQuorum)
		b.want("SETs and extensions that were sent", []int{counting.of[env.OpSet], counting.of[env.OpExtend]}, []int{2, 1})
	})
}
