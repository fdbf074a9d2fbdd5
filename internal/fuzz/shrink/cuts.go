package shrink

import (
	"slices"

	"github.com/lockstorm/lockstorm/nemesis"
)

// cutsInstead puts a cut from the beginning to the end, which shapes the world, in the
// place of a fault that happens in it: where two nodes have to fail because a client
// has its keys on all of them, one is enough for a client that reaches a bare quorum.
// Where two clients have, each of them needs a cut.
func cutsInstead(k *shrinking) {
	for i := 0; i < len(k.best.Plan); i++ {
		if !Shapes(k.best.Plan[i]) && !k.tryCut(i) {
			k.tryTwoCuts(i)
		}
	}
}

// tryCut tries to cut a client off from some nodes, fewer than half of them.
func (k *shrinking) tryCut(i int) bool {
	nodes := k.best.Nodes
	for size := 1; 2*size < nodes; size++ {
		for off := range k.going(choose(nodes, size)) {
			for c := range k.best.Clients {
				if k.withFault(i, cut(c+1, off...)) {
					return true
				}
			}
		}
		if nodes > manySubsets {
			break
		}
	}
	return false
}

// tryTwoCuts tries to cut two clients off from a node each, if another fault remains: two
// cuts by themselves are for those who have tried one.
func (k *shrinking) tryTwoCuts(i int) {
	if k.size.Causes < 2 || k.best.Nodes < 3 || k.best.Nodes > manySubsets {
		return
	}
	for clients := range k.going(choose(len(k.best.Clients), 2)) {
		for a := range k.best.Nodes {
			for b := range k.best.Nodes {
				s := k.best
				s.Plan = append(slices.Delete(slices.Clone(s.Plan), i, i+1), cut(clients[0], a+1), cut(clients[1], b+1))
				if k.try(s) {
					return
				}
			}
		}
	}
}

// cut cuts a client off from some nodes for good.
func cut(client int, nodes ...int) nemesis.Fault {
	return nemesis.Fault{Action: &nemesis.Partition{Links: nemesis.Links{Clients: []int{client}, Nodes: nodes}}}
}
