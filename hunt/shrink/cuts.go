package shrink

import "github.com/lockstorm/lockstorm/nemesis"

// cutsInstead puts a cut from the beginning to the end, which shapes the world, in the
// place of a fault that happens in it: where two nodes have to fail because a client
// has its keys on all of them, one is enough for a client that reaches a bare quorum.
func cutsInstead(k *shrinking) {
	for i := 0; i < len(k.best.Plan); i++ {
		if !Shapes(k.best.Plan[i]) {
			k.tryCuts(i)
		}
	}
}

// tryCuts tries to cut a client off from some nodes, fewer than half of them.
func (k *shrinking) tryCuts(i int) {
	nodes := k.best.Nodes
	for size := 1; 2*size < nodes; size++ {
		for _, off := range choose(1, nodes, size) {
			for c := range k.best.Clients {
				cut := &nemesis.Partition{Links: nemesis.Links{Clients: []int{c + 1}, Nodes: off}}
				if k.withFault(i, nemesis.Fault{Action: cut}) {
					return
				}
			}
		}
		if nodes > manySubsets {
			return
		}
	}
}
