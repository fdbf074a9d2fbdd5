//go:build linux

package process

import (
	"github.com/lockstorm/lockstorm/cluster/process/wire"
	"github.com/lockstorm/lockstorm/nemesis"
)

var partitioning = part{
	Kind: (*nemesis.Partition)(nil).Kind(),
	Begin: func(w *World, _ int, f *nemesis.Fault) error {
		w.disturb(f.Partition.Clients, f.Partition.Nodes, func(l *wire.Link) { cut(l, f.Partition.Cut, true) })
		return nil
	},
	End: func(w *World, _ int, f *nemesis.Fault) error {
		w.mend(f.Partition.Clients, f.Partition.Nodes, func(l *wire.Link) { cut(l, f.Partition.Cut, false) })
		return nil
	},
}

func cut(l *wire.Link, way nemesis.Direction, held bool) {
	if way != nemesis.Replies {
		l.Requests.Hold(held)
	}
	if way != nemesis.Requests {
		l.Replies.Hold(held)
	}
}
