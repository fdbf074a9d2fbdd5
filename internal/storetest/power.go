package storetest

import (
	"context"
	"slices"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/internal/servers/aof"
	"github.com/lockstorm/lockstorm/internal/servers/disk"
	"github.com/lockstorm/lockstorm/internal/servers/live"
	"github.com/lockstorm/lockstorm/nemesis"
)

// Lossy is the setting of members that can lose power.
func Lossy(nodes int) nemesis.Setting {
	return nemesis.Setting{Nodes: nodes, Plan: nemesis.Plan{{Action: &nemesis.PowerLoss{Node: 1}}}}
}

// OpenLossy opens a fleet whose members can lose power. The test is skipped where no disk can be mounted.
func OpenLossy(t *testing.T, open func(context.Context, nemesis.Setting, uint64) (live.Fleet, error)) *Fleet {
	t.Helper()
	if err := disk.Available(); err != nil {
		t.Skip(err)
	}
	return Open(t, func(ctx context.Context) (live.Fleet, error) { return open(ctx, Lossy(3), 1) })
}

// LosePower cuts the power of some members, and then starts them again.
func (f *Fleet) LosePower(nodes ...int) {
	f.T.Helper()
	each := func(do func(live.Powered) error) {
		var all errgroup.Group
		for _, node := range nodes {
			all.Go(func() error { return do(f.Servers[node-1].(live.Powered)) })
		}
		if err := all.Wait(); err != nil {
			f.T.Fatalf("%v%s", err, Logs(f.T))
		}
	}
	each(func(s live.Powered) error { return s.LosePower(aof.Loss{}) })
	each(func(s live.Powered) error { return s.Start(f.T.Context()) })
}

// KeepsWithoutPower checks that keys whose creation was acknowledged are there after each member has
// lost power alone, and after all have at once. create returns a request to create a key, and list
// lists the keys.
func (f *Fleet) KeepsWithoutPower(create func(key string) env.StoreRequest, list env.StoreRequest) {
	f.T.Helper()
	var want []string
	for i, nodes := range [][]int{{1}, {2}, {3}, {1, 2, 3}, {1, 2, 3}} {
		key := list.Key + string(rune('a'+i))
		f.Insist(create(key))
		want = append(want, key)
		f.LosePower(nodes...)
		var got []string
		for _, e := range f.Insist(list).Entries {
			got = append(got, e.Key)
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			f.T.Fatalf("after members %v had lost power there is %q, not %q", nodes, got, want)
		}
	}
}
