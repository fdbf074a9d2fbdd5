//go:build linux

package process

import (
	"github.com/lockstorm/lockstorm/cluster/process/wire"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
)

// A link is down, as far as the history goes, while any fault takes hold of it:
// a client cannot count on a quick round trip then.

type linkName struct{ client, node int }

// disturb does something bad to every link between the clients and the nodes,
// on behalf of a fault.
func (w *World) disturb(fault int, clients, nodes []int, how func(*wire.Link)) {
	w.eachLink(clients, nodes, func(name linkName, l *wire.Link) {
		w.troubles[name]++
		if w.troubles[name] == 1 {
			w.history.happened(history.Event{Kind: history.LinkDown, Fault: fault, Client: name.client, Node: name.node})
		}
		how(l)
	})
}

// mend takes it back.
func (w *World) mend(fault int, clients, nodes []int, how func(*wire.Link)) {
	w.eachLink(clients, nodes, func(name linkName, l *wire.Link) {
		how(l)
		w.troubles[name]--
		if w.troubles[name] == 0 {
			w.history.happened(history.Event{Kind: history.LinkUp, Fault: fault, Client: name.client, Node: name.node})
		}
	})
}

func (w *World) eachLink(clients, nodes []int, do func(linkName, *wire.Link)) {
	for _, client := range nemesis.Each(clients, w.setting.Clients) {
		for _, node := range nemesis.Each(nodes, w.setting.Nodes) {
			do(linkName{client, node}, w.network.Link(client, node))
		}
	}
}
