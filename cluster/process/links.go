//go:build linux

package process

import "github.com/lockstorm/lockstorm/cluster/process/wire"

// disturb does something bad to every link between the clients and the nodes,
// on behalf of a fault.
func (w *World) disturb(clients, nodes []int, how func(*wire.Link)) {
	w.links.Disturb(clients, nodes, func(client, node int) { how(w.network.Link(client, node)) })
}

// mend takes it back.
func (w *World) mend(clients, nodes []int, how func(*wire.Link)) {
	w.links.Mend(clients, nodes, func(client, node int) { how(w.network.Link(client, node)) })
}
