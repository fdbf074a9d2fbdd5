package shrink

import (
	"slices"
	"time"

	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// fewerNodes keeps as few nodes as it can: which, is tried. To leave out one alone is
// seldom enough, for two quorums then come to have more nodes in common, or none is left.
func fewerNodes(k *shrinking) {
	for kept := range k.going(subsets(k.best.Nodes, k.LeastNodes)) {
		if s := onlyNodes(k.best, kept); k.try(s) || k.tryLate(s) {
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

// tryLate lets one of the clients come later who come at once. Where two do, a delay says
// who of them is first, and with fewer nodes it may say something else.
func (k *shrinking) tryLate(s scenarios.Scenario) bool {
	for i, c := range s.Clients {
		if c.Start.Max > 0 {
			continue
		}
		late := s
		late.Clients = slices.Clone(s.Clients)
		late.Clients[i].Start = nemesis.Range{Min: 20 * time.Millisecond, Max: 20 * time.Millisecond}
		if k.try(late) {
			return true
		}
	}
	return false
}
