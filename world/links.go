package world

import (
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
)

// Links counts the faults that hold each link between a client and a node. As
// far as the history goes a link is down from the first that takes hold to the
// last that lets go: a client cannot count on a quick round trip meanwhile.
type Links struct {
	clients, nodes int
	faults         []int // that hold the link, by client, then by node
	record         func(e history.Event)
}

// NewLinks returns the links of a world in which no fault holds any. record
// writes an event.
func NewLinks(clients, nodes int, record func(e history.Event)) *Links {
	return &Links{clients: clients, nodes: nodes, faults: make([]int, clients*nodes), record: record}
}

// Disturb takes hold of every link of the selection on behalf of a fault, and
// does to it what disturb does.
func (l *Links) Disturb(which nemesis.Links, disturb func(client, node int)) {
	l.each(which, func(client, node int, faults *int) {
		*faults++
		if *faults == 1 {
			l.record(history.Event{Kind: history.LinkDown, Client: client, Node: node})
		}
		disturb(client, node)
	})
}

// Mend takes back with mend what Disturb has done to the same links, and lets
// go of them.
func (l *Links) Mend(which nemesis.Links, mend func(client, node int)) {
	l.each(which, func(client, node int, faults *int) {
		mend(client, node)
		*faults--
		if *faults == 0 {
			l.record(history.Event{Kind: history.LinkUp, Client: client, Node: node})
		}
	})
}

func (l *Links) each(which nemesis.Links, do func(client, node int, faults *int)) {
	for _, client := range nemesis.Each(which.Clients, l.clients) {
		for _, node := range nemesis.Each(which.Nodes, l.nodes) {
			do(client, node, &l.faults[(client-1)*l.nodes+node-1])
		}
	}
}
