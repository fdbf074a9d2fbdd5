package redlock_test

import (
	"context"
	"errors"
	"testing"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/redlock"
)

// Of seven nodes, one of which weighs as much as three, that one and two more are a
// quorum; four light ones are none.
func TestWeightedQuorum(t *testing.T) {
	for _, c := range []struct {
		away []int
		want error
	}{{[]int{4, 5, 6, 7}, nil}, {[]int{1, 7}, nil}, {[]int{1, 6, 7}, redlock.ErrNoQuorum}} {
		weighted := config()
		weighted.Quorum.Weights = []int{3, 1, 1, 1, 1, 1, 1}
		playWith(t, weighted, 7, nemesis.Plan{partition(c.away, nemesis.At(0), nil)}, func(b *bench, m *redlock.Mutex) {
			b.sleep(1, ms)
			hold, err := m.TryLock(context.Background(), "r")
			b.wantError("try", err, c.want)
			if err == nil {
				b.wantError("extend", hold.Extend(context.Background(), config().TTL), nil)
				b.wantError("release", hold.Release(context.Background()), nil)
			}
		})
	}
}

// A node without a vote is not asked, and no quorum error speaks of it.
func TestOnlyVotersAreAsked(t *testing.T) {
	three := config()
	three.Quorum.Voters = env.SetOf(2, 3, 5)
	playWith(t, three, 5, nemesis.Plan{partition([]int{3}, nemesis.At(0), nemesis.After(50*ms)), partition([]int{3, 5}, nemesis.At(100*ms), nil)}, func(b *bench, m *redlock.Mutex) {
		b.sleep(1, ms)
		hold, err := m.TryLock(context.Background(), "r")
		b.wantError("try", err, nil)
		b.want("keys", b.keys(), 2)
		b.wantError("release", hold.Release(context.Background()), nil)
		b.sleep(1, 150*ms)
		_, err = m.TryLock(context.Background(), "r")
		b.wantError("try", err, redlock.ErrNoQuorum)
		var q *redlock.QuorumError
		if !errors.As(err, &q) || len(q.Replies) != 3 || q.Replies[0].Node != 2 || q.Replies[0].Answer != env.Yes || q.Replies[2].Node != 5 {
			t.Errorf("the error is %#v", q)
		}
	})
}
