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

// Disturb takes hold of every link between the clients and the nodes on behalf
// of a fault, and does to it what disturb does. An empty list means all.
func (l *Links) Disturb(clients, nodes []int, disturb func(client, node int)) {
	l.each(clients, nodes, func(client, node int, faults *int) {
		*faults++
		if *faults == 1 {
			l.record(history.Event{Kind: history.LinkDown, Client: client, Node: node})
		}
		disturb(client, node)
	})
}

// Mend takes back with mend what Disturb has done to the same links, and lets
// go of them.
func (l *Links) Mend(clients, nodes []int, mend func(client, node int)) {
	l.each(clients, nodes, func(client, node int, faults *int) {
		mend(client, node)
		*faults--
		if *faults == 0 {
			l.record(history.Event{Kind: history.LinkUp, Client: client, Node: node})
		}
	})
}

func (l *Links) each(clients, nodes []int, do func(client, node int, faults *int)) {
	for _, client := range nemesis.Each(clients, l.clients) {
		for _, node := range nemesis.Each(nodes, l.nodes) {
			do(client, node, &l.faults[(client-1)*l.nodes+node-1])
		}
	}
}
