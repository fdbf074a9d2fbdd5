package sim

import (
	"slices"

	"github.com/lockstorm/lockstorm/nemesis"
)

// letGo lets a fault let go of links, after it has done to each what mend does.
// What the fault has held up is not gone with it, and where requests share
// connections, those that come later wait for it. So a link with something on
// such a connection stays down, for its aftermath, until that is through: a
// client cannot count on a quick round trip before.
func (w *World) letGo(which nemesis.Links, mend func(client, node int)) {
	w.links.Mend(which, func(client, node int) {
		mend(client, node)
		l := w.network.link(client, node)
		held := len(l.aftermath) > 0
		l.aftermath = l.inTheWay()
		if len(l.aftermath) > 0 && l.batches != nil {
			l.batches.watch()
		}
		if !held && len(l.aftermath) > 0 {
			w.links.Disturb(one(client, node), untouched)
		}
	})
}

// through has to be called when something has left a shared connection. It
// lets go of the link when the aftermath is over.
func (w *World) through(client, node int) {
	l := w.network.link(client, node)
	if len(l.aftermath) > 0 && !slices.ContainsFunc(l.aftermath, l.awaits) {
		l.aftermath = nil
		w.links.Mend(one(client, node), untouched)
	}
}

// inTheWay returns the rounds whose answers have to come before that of a
// request that is sent now.
func (l *link) inTheWay() []*round {
	var rounds []*round
	if c := l.connection; c != nil && len(c.asked) > 0 {
		rounds = append(rounds, c.asked[len(c.asked)-1])
	}
	for _, q := range l.pool.busy {
		rounds = append(rounds, q.round)
	}
	if l.batches != nil {
		rounds = append(rounds, l.batches.rounds()...)
	}
	return rounds
}

// awaits reports whether an answer to the round is to come over a connection of
// the link that others share.
func (l *link) awaits(r *round) bool {
	return l.connection != nil && slices.Contains(l.connection.asked, r) ||
		slices.ContainsFunc(l.pool.busy, func(q *pooled) bool { return q.round == r }) ||
		l.batches != nil && l.batches.carry(r)
}

func one(client, node int) nemesis.Links {
	return nemesis.Links{Clients: []int{client}, Nodes: []int{node}}
}
