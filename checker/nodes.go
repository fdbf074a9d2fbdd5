package checker

import (
	"math/bits"

	"github.com/lockstorm/lockstorm/history"
)

// nodes is a set of nodes, numbered from 1 to 64.
type nodes uint64

func allNodes(n int) nodes { return nodes(1)<<n - 1 }

// node returns the set of one node; of a number that no node has, none.
func node(n int) nodes {
	if n < 1 {
		return 0
	}
	return 1 << (n - 1)
}

func (s nodes) with(n int) nodes    { return s | node(n) }
func (s nodes) without(n int) nodes { return s &^ node(n) }

// first returns the lowest node of a set that is not empty.
func (s nodes) first() int { return bits.TrailingZeros64(uint64(s)) + 1 }

func (s nodes) has(n int) bool { return s&node(n) != 0 }
func (s nodes) count() int     { return bits.OnesCount64(uint64(s)) }

// keepersOf returns the nodes that keep a key of each hold.
func keepersOf(h history.Header) nodes {
	switch {
	case h.Keepers < 0:
		return 0
	case h.Keepers == 0:
		return allNodes(h.Nodes)
	}
	return allNodes(h.Keepers)
}

// majorityOf reports whether the set is more than half of n nodes.
func (s nodes) majorityOf(n int) bool { return s.count() > n/2 }
