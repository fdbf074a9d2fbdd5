package shrink

import "github.com/lockstorm/lockstorm/scenarios"

// fewerNodes keeps as few nodes as it can: which, is tried. To leave out one alone is
// seldom enough, for two quorums then come to have more nodes in common, or none is left.
func fewerNodes(k *shrinking) {
	for _, kept := range subsets(k.best.Nodes, k.LeastNodes) {
		if k.try(onlyNodes(k.best, kept)) {
			return
		}
	}
}

// onlyNodes keeps some nodes, in the order of the list.
func onlyNodes(s scenarios.Scenario, kept []int) scenarios.Scenario {
	s = renumbered(s, nil, keeping(kept, s.Nodes))
	s.Nodes = len(kept)
	return s
}
