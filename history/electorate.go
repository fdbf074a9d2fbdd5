package history

import "math/bits"

// Electorate is whose keys hold a lock: the nodes that vote, and how many votes each has.
// More than half of the votes hold it. It is found from the header alone and shares no
// code with locks. That of a lock which keeps nothing on the nodes has no voters.
type Electorate struct {
	Voters  uint64 // one bit a node, the lowest being node 1
	Weights []int  // votes by node, from 0; nil: one each
	All     int    // votes
}

// Electorate returns that of the lock.
func (h Header) Electorate() Electorate {
	switch {
	case h.Votes != nil:
		return weighted(h.Votes)
	case h.Keepers < 0:
		return Electorate{}
	case h.Keepers == 0:
		return Alike(h.Nodes)
	}
	return Alike(h.Keepers)
}

// Alike is the first n nodes, with one vote each.
func Alike(n int) Electorate { return Electorate{Voters: 1<<n - 1, All: n} }

func weighted(votes []int) Electorate {
	e := Electorate{Weights: votes}
	for i, v := range votes {
		if v > 0 {
			e.Voters |= 1 << i
			e.All += v
		}
	}
	return e
}

// None reports whether the lock keeps nothing on the nodes.
func (e Electorate) None() bool { return e.Voters == 0 }

// Needed is the least number of votes that hold the lock.
func (e Electorate) Needed() int { return e.All/2 + 1 }

// Count counts the votes of a set of nodes, one bit a node as in Voters.
func (e Electorate) Count(nodes uint64) int {
	nodes &= e.Voters
	if e.Weights == nil {
		return bits.OnesCount64(nodes)
	}
	sum := 0
	for ; nodes != 0; nodes &= nodes - 1 {
		sum += e.Weights[bits.TrailingZeros64(nodes)]
	}
	return sum
}
