package sim

import (
	"slices"

	"github.com/lockstorm/lockstorm/nemesis"
)

// letGo ends a fault of links: it applies mend to each of them. Messages that the
// fault held up are still under way, and later requests that share a connection
// with them wait for them. So such a link keeps counting as down while it drains:
// no client can expect a quick round trip before.
func (w *World) letGo(which nemesis.Links, mend func(client, node int)) {
	w.links.Mend(which, func(client, node int) {
		mend(client, node)
		l := w.network.link(client, node)
		held := len(l.draining) > 0
		l.draining = l.unfinished()
		if len(l.draining) > 0 && l.batches != nil {
			l.batches.watch()
		}
		if !held && len(l.draining) > 0 {
			w.links.Disturb(one(client, node), untouched)
		}
	})
}

// drained has to be called when a message has left a shared connection. It marks
// the link as up once it has drained.
func (w *World) drained(client, node int) {
	l := w.network.link(client, node)
	if len(l.draining) > 0 && !slices.ContainsFunc(l.draining, l.awaits) {
		l.draining = nil
		w.links.Mend(one(client, node), untouched)
	}
}

// unfinished returns the rounds whose replies have to arrive before the reply to a
// request that is sent now.
func (l *link) unfinished() []*round {
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

// awaits reports whether a shared connection of the link still has to deliver a
// reply to the round.
func (l *link) awaits(r *round) bool {
	return l.connection != nil && slices.Contains(l.connection.asked, r) ||
		slices.ContainsFunc(l.pool.busy, func(q *pooled) bool { return q.round == r }) ||
		l.batches != nil && l.batches.carry(r)
}

func one(client, node int) nemesis.Links {
	return nemesis.Links{Clients: []int{client}, Nodes: []int{node}}
}
