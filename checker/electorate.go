package checker

import "github.com/lockstorm/lockstorm/history"

// electorate is the nodes whose keys hold a lock, with their votes.
type electorate struct{ history.Electorate }

// electorateOf returns the electorate of the lock.
func electorateOf(h history.Header) electorate { return electorate{h.Electorate()} }

// allAlike is n nodes with one vote each.
func allAlike(n int) electorate { return electorate{history.Alike(n)} }

func (e electorate) voters() nodes { return nodes(e.Voters) }

// has reports whether the set contains a quorum.
func (e electorate) has(s nodes) bool { return e.Count(uint64(s)) >= e.Needed() }

// share is how much of the electorate a set is.
func (e electorate) share(s nodes) *Share {
	share := &Share{Nodes: (s & e.voters()).count(), OfNodes: e.voters().count()}
	if e.Weights != nil {
		share.Votes, share.OfVotes = e.Count(uint64(s)), e.All
	}
	return share
}
