//go:build linux

package process

import (
	"github.com/lockstorm/lockstorm/cluster/process/wire"
	"github.com/lockstorm/lockstorm/nemesis"
)

// disturb does something bad to one direction, or both, of every link of the
// selection, on behalf of a fault.
func (w *World) disturb(which nemesis.Links, way nemesis.Direction, how func(*wire.Way)) {
	w.links.Disturb(which, func(client, node int) { each(w.network.Link(client, node), way, how) })
}

// mend takes it back.
func (w *World) mend(which nemesis.Links, way nemesis.Direction, how func(*wire.Way)) {
	w.links.Mend(which, func(client, node int) { each(w.network.Link(client, node), way, how) })
}

func each(l *wire.Link, way nemesis.Direction, do func(*wire.Way)) {
	if way.Has(nemesis.Requests) {
		do(l.Requests)
	}
	if way.Has(nemesis.Replies) {
		do(l.Replies)
	}
}
