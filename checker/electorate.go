package checker

import (
	"fmt"

	"github.com/lockstorm/lockstorm/history"
)

// electorate is whose keys hold a lock: the nodes that vote, and how many votes
// each has. It is found from the header alone, and shares no code with locks. That
// of a lock which keeps nothing on the nodes has no voters.
type electorate struct {
	voters nodes
	votes  []int // by node, from 0; nil: one each
	all    int   // votes
}

// electorateOf returns that of the lock.
func electorateOf(h history.Header) electorate {
	switch {
	case h.Votes != nil:
		return weighted(h.Votes)
	case h.Keepers < 0:
		return electorate{}
	case h.Keepers == 0:
		return allAlike(h.Nodes)
	}
	return allAlike(h.Keepers)
}

// allAlike is the first n nodes, with one vote each.
func allAlike(n int) electorate { return electorate{voters: allNodes(n), all: n} }

func weighted(votes []int) electorate {
	e := electorate{votes: votes}
	for i, v := range votes {
		if v > 0 {
			e.voters = e.voters.with(i + 1)
			e.all += v
		}
	}
	return e
}

// none reports whether the lock keeps nothing on the nodes.
func (e electorate) none() bool { return e.voters == 0 }

// has reports whether the set has a quorum in it: more than half of the votes.
func (e electorate) has(s nodes) bool { return 2*e.count(s) > e.all }

// count counts the votes of a set.
func (e electorate) count(s nodes) int {
	s &= e.voters
	if e.votes == nil {
		return s.count()
	}
	sum := 0
	for ; s != 0; s = s.without(s.first()) {
		sum += e.votes[s.first()-1]
	}
	return sum
}

// share tells how much of the electorate a set is, as in "3 of 5 nodes" or "3 of 7
// nodes (5 of 9 votes)".
func (e electorate) share(s nodes) string {
	nodes := fmt.Sprintf("%d of %d nodes", (s & e.voters).count(), e.voters.count())
	if e.votes == nil {
		return nodes
	}
	return fmt.Sprintf("%s (%d of %d votes)", nodes, e.count(s), e.all)
}
