package nemesis_test

import (
	"slices"
	"testing"

	"github.com/lockstorm/lockstorm/nemesis"
)

func TestPeerPartitionsThatCannotBe(t *testing.T) {
	store := func(s *nemesis.Setting) { s.Store = &nemesis.Store{} }
	for _, c := range []struct {
		nodes  []int
		change func(*nemesis.Setting)
		want   string
	}{
		{[]int{1}, store, ""},
		{[]int{2, 3, 4, 5}, store, ""},
		{nil, store, "plan[0].peer-partition.nodes: none in the list: name the nodes that are cut off from the others"},
		{[]int{1, 2, 3, 4, 5}, store, "plan[0].peer-partition.nodes: no node is left that they could be cut off from"},
		{[]int{6}, store, "plan[0].peer-partition.nodes[0]: there is no node 6: they are numbered 1 to 5"},
		{[]int{1, 1}, store, "plan[0].peer-partition.nodes[1]: node 1 is named twice"},
		{[]int{0}, store, "plan[0].peer-partition.nodes[0]: 0: want at least 1"},
		{[]int{1}, func(*nemesis.Setting) {}, "plan[0].peer-partition.nodes: the nodes do not talk to each other: the setting has no store"},
		{[]int{1}, func(s *nemesis.Setting) { s.Store, s.Nodes = &nemesis.Store{}, 1 }, "plan[0].peer-partition.nodes: a single node has no others"},
		{
			[]int{1}, func(s *nemesis.Setting) { s.Store = &nemesis.Store{Asynchronous: true} },
			"plan[0].peer-partition.nodes: a store with asynchronous replication or durability off would have two leaders, which is not modelled",
		},
		{
			[]int{1}, func(s *nemesis.Setting) { s.Store = &nemesis.Store{Durability: nemesis.Off} },
			"plan[0].peer-partition.nodes: a store with asynchronous replication or durability off would have two leaders, which is not modelled",
		},
	} {
		s := setting(nemesis.Fault{Action: &nemesis.PeerPartition{Nodes: c.nodes}})
		c.change(&s)
		wantError(t, s, c.want)
	}
	two := setting(
		nemesis.Fault{Action: &nemesis.PeerPartition{Nodes: []int{1}}},
		nemesis.Fault{Action: &nemesis.PeerPartition{Nodes: []int{2}}, Start: nemesis.At(ms)},
	)
	two.Store = &nemesis.Store{}
	wantError(t, two, "plan[1]: overlaps fault 1: both hold the links between the nodes")
}

func TestMinority(t *testing.T) {
	for _, c := range []struct {
		cut  []int
		of   int
		want []int
	}{
		{[]int{1}, 3, []int{1}},
		{[]int{1, 2, 3}, 5, []int{4, 5}},
		{[]int{2, 4}, 5, []int{2, 4}},
		{[]int{1, 2}, 4, []int{1, 2, 3, 4}},
		{[]int{2}, 2, []int{1, 2}},
	} {
		if got := (&nemesis.PeerPartition{Nodes: c.cut}).Minority(c.of); !slices.Equal(got, c.want) {
			t.Errorf("%v of %d: %v, want %v", c.cut, c.of, got, c.want)
		}
	}
}
