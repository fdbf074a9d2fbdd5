package sim

import (
	"time"

	"github.com/lockstorm/lockstorm/nemesis"
)

// On a pipelined connection what a fault has delayed is in the way of everything
// that is sent after it, also when the fault is over. As long as that is under way
// the backlog holds the link, as the fault did.

// awaitBacklog lets the backlogs of the links take hold of them.
func (w *World) awaitBacklog(which nemesis.Links) {
	if !w.network.connections.Pipelined {
		return
	}
	for _, client := range nemesis.Each(which.Clients, w.setting.Clients) {
		for _, node := range nemesis.Each(which.Nodes, w.setting.Nodes) {
			if w.backlogged(w.network.link(client, node), w.now) {
				one := nemesis.Links{Clients: []int{client}, Nodes: []int{node}}
				w.links.Disturb(one, untouched)
				w.letGo(one, w.now)
			}
		}
	}
}

// letGo lets the backlog of a link go when everything has come through that was
// sent by a ground time.
func (w *World) letGo(one nemesis.Links, sent int64) {
	l := w.network.link(one.Clients[0], one.Nodes[0])
	look := max(l.requests.latest, l.replies.latest, w.now+int64(time.Millisecond))
	w.later(look, func() {
		if w.backlogged(l, sent) {
			w.letGo(one, sent)
		} else {
			w.links.Mend(one, untouched)
		}
	})
}

// backlogged reports whether something is on a link's connection that was sent by
// a ground time.
func (w *World) backlogged(l *link, sent int64) bool {
	c := l.connection
	return c != nil && !c.broken && (w.waits(&c.requests, sent) || w.waits(&c.replies, sent))
}

// waits reports whether the first of a line was sent by then.
func (w *World) waits(l *line, sent int64) bool {
	return len(l.places) > 0 && w.network.messages.at(l.places[0].message).sent <= sent
}
