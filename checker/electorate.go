package checker

import (
	"fmt"

	"github.com/lockstorm/lockstorm/history"
)

// electorate is whose keys hold a lock, with its nodes as the judges count them.
type electorate struct{ history.Electorate }

// electorateOf returns that of the lock.
func electorateOf(h history.Header) electorate { return electorate{h.Electorate()} }

// allAlike is the first n nodes, with one vote each.
func allAlike(n int) electorate { return electorate{history.Alike(n)} }

func (e electorate) voters() nodes { return nodes(e.Voters) }

// has reports whether the set has a quorum in it.
func (e electorate) has(s nodes) bool { return e.Count(uint64(s)) >= e.Needed() }

// share tells how much of the electorate a set is, as in "3 of 5 nodes" or "3 of 7
// nodes (5 of 9 votes)".
func (e electorate) share(s nodes) string {
	nodes := fmt.Sprintf("%d of %d nodes", (s & e.voters()).count(), e.voters().count())
	if e.Weights == nil {
		return nodes
	}
	return fmt.Sprintf("%s (%d of %d votes)", nodes, e.Count(uint64(s)), e.All)
}
