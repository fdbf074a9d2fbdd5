package campaign_test

import (
	"context"
	"slices"
	"sync"
	"testing"

	"github.com/lockstorm/lockstorm/internal/campaign"
)

// drawing is a runner that notes from which others each shard may draw.
type drawing struct {
	counting
	mu   *sync.Mutex
	from map[int][]campaign.Other
}

func (d drawing) Run(ctx context.Context, shard int, others []campaign.Other) (campaign.Result, error) {
	d.mu.Lock()
	d.from[shard] = others
	d.mu.Unlock()
	return d.counting.Run(ctx, shard, nil)
}

// A shard may draw from earlier ones, of which it gets the results; with one worker it gets the same ones
// again.
func TestShardsDrawFromOthers(t *testing.T) {
	const shards, draws = 30, 3
	made := func() map[int][]campaign.Other {
		s := spec("draw", shards)
		s.Draws = draws
		c := submit(t, embedded(t, t.TempDir()), s)
		d := drawing{mu: &sync.Mutex{}, from: map[int][]campaign.Other{}}
		w := worker("a", nil)
		w.Slots = 1
		w.Start = func(context.Context, campaign.Spec) (campaign.Runner, error) { return d, nil }
		finish(t, c, w)
		return d.from
	}
	all, again := made(), made()
	seen := map[int]bool{}
	for shard := range shards {
		if n := len(all[shard]); n != min(draws, shard) {
			t.Errorf("shard %d draws from %d others", shard, n)
		}
		for i, other := range all[shard] {
			want, _ := counting{}.Run(t.Context(), other.Shard, nil)
			if other.Shard >= shard || string(other.Data) != string(want.Data) {
				t.Errorf("shard %d draws from shard %d with %q", shard, other.Shard, other.Data)
			}
			if again[shard][i].Shard != other.Shard {
				t.Errorf("shard %d draws from shard %d, and then from shard %d", shard, other.Shard, again[shard][i].Shard)
			}
			if slices.ContainsFunc(all[shard][:i], func(o campaign.Other) bool { return o.Shard == other.Shard }) {
				t.Errorf("shard %d draws twice from shard %d", shard, other.Shard)
			}
			seen[other.Shard] = true
		}
	}
	if len(seen) < shards/2 {
		t.Errorf("only %d shards are drawn from", len(seen))
	}
}

// Shards that drew from different others have different results, which is no conflict.
func TestDifferentDrawsAreNoConflict(t *testing.T) {
	s := spec("draw", 3)
	s.Draws = 1
	c := submit(t, embedded(t, t.TempDir()), s)
	p := finish(t, c, worker("a", nil))
	if len(p.Conflicts) > 0 {
		t.Fatal(p.Conflicts)
	}
	if _, err := c.Store(t.Context(), build, 2, "b", []byte("others"), campaign.Origin{Shard: 1, Hash: "other"}); err != nil {
		t.Fatal(err)
	}
	if p := finish(t, c, worker("a", nil)); len(p.Conflicts) > 0 {
		t.Errorf("conflicts: %v", p.Conflicts)
	}
}
