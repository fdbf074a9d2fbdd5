package checker

import (
	"fmt"
	"math/bits"
	"strings"

	"github.com/lockstorm/lockstorm/history"
)

// electorate is the nodes whose keys hold a lock, with their votes.
type electorate struct{ history.Electorate }

// electorateOf returns the electorate of the lock.
func electorateOf(h history.Header) electorate { return electorate{h.Electorate()} }

// allAlike is n nodes with one vote each.
func allAlike(n int) electorate { return electorate{history.Alike(n)} }

func (e electorate) voters() nodes { return nodes(e.Voters) }

// has reports whether the set contains a quorum.
func (e electorate) has(s nodes) bool { return e.Count(uint64(s)) >= e.Needed() }

// share says how much of the electorate a set is, as in "3 of 5 nodes" or "3 of 7 nodes (5 of 9 votes)".
func (e electorate) share(s nodes) string {
	text := fmt.Sprintf("%d of %d nodes", (s & e.voters()).count(), e.voters().count())
	if e.Weights != nil {
		text += fmt.Sprintf(" (%d of %d votes)", e.Count(uint64(s)), e.All)
	}
	return text
}

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

// String names the nodes, as in "nodes 1, 2 and 5" or "nodes 1 to 5".
func (s nodes) String() string {
	var list []string
	for rest := s; rest != 0; {
		n := rest.first()
		rest = rest.without(n)
		list = append(list, fmt.Sprint(n))
	}
	last := len(list) - 1
	switch {
	case last < 0:
		return "no node"
	case last == 0:
		return "node " + list[0]
	case last > 1 && s>>(s.first()-1) == allNodes(last+1):
		return "nodes " + list[0] + " to " + list[last]
	}
	return "nodes " + strings.Join(list[:last], ", ") + " and " + list[last]
}
