package env

import (
	"cmp"
	"fmt"
	"slices"
)

// Quorum says which sets of nodes hold a lock: those that have more than half of
// the votes. Any two of them have a node in common. The zero value is the majority
// of however many nodes there are, see [Quorum.Among].
type Quorum struct {
	// Voters are the nodes that have a vote. None stands for all.
	Voters NodeSet

	// Weights is how many votes each node has, node 1 first: from 1 to [MaxWeight]
	// where it is a voter, otherwise 0. Nil: voters have one each.
	Weights []int
}

// MaxWeight is the most votes that one node can have.
const MaxWeight = 1_000_000

// Majority returns the quorum that more than half of n nodes are, which are all
// alike.
func Majority(n int) Quorum { return Quorum{Voters: AllNodes(n)} }

// Among returns the quorum as it is where there are n nodes: with all of them as
// voters, if it names none.
func (q Quorum) Among(n int) Quorum {
	if q.Voters == 0 {
		q.Voters = AllNodes(n)
	}
	return q
}

// Validate returns an error if there can be no such quorum among n nodes, which are
// at most [MaxNodes].
func (q Quorum) Validate(n int) error {
	q = q.Among(n)
	switch {
	case q.Voters&^AllNodes(n) != 0:
		return fmt.Errorf("node %d is to vote, of %d nodes", (q.Voters &^ AllNodes(n)).First(), n)
	case q.Weights != nil && len(q.Weights) != n:
		return fmt.Errorf("%d weights of %d nodes", len(q.Weights), n)
	}
	for i, w := range q.Weights {
		switch votes := q.Voters.Has(i + 1); {
		case votes && (w < 1 || w > MaxWeight):
			return fmt.Errorf("node %d has %d votes: want 1 to %d", i+1, w, MaxWeight)
		case !votes && w != 0:
			return fmt.Errorf("node %d has %d votes, and is not to vote", i+1, w)
		}
	}
	return nil
}

// Has reports whether the set is a quorum, or has one in it.
func (q Quorum) Has(s NodeSet) bool { return 2*q.votes(s) > q.votes(q.Voters) }

// votes counts those of a set.
func (q Quorum) votes(s NodeSet) int {
	s &= q.Voters
	if q.Weights == nil {
		return s.Len()
	}
	sum := 0
	for ; s != 0; s = s.Without(s.First()) {
		sum += q.Weight(s.First())
	}
	return sum
}

// Weight returns how many votes a voter has.
func (q Quorum) Weight(node int) int {
	if q.Weights == nil {
		return 1
	}
	return q.Weights[node-1]
}

// Bare returns a smallest quorum: of the heaviest nodes and, where they weigh the
// same, of the lowest numbers. Without any one of its nodes it is none.
func (q Quorum) Bare() NodeSet {
	heaviest := q.Voters.List()
	slices.SortStableFunc(heaviest, func(a, b int) int { return cmp.Compare(q.Weight(b), q.Weight(a)) })
	var bare NodeSet
	for _, node := range heaviest {
		if q.Has(bare) {
			break
		}
		bare = bare.With(node)
	}
	return bare
}
