package sim

import "github.com/lockstorm/lockstorm/nemesis"

var partitioning = part{
	Kind: (*nemesis.Partition)(nil).Kind(),
	Begin: func(w *World, _ int, f *nemesis.Fault) error {
		w.links.Disturb(f.Partition.Clients, f.Partition.Nodes, func(client, node int) {
			w.network.link(client, node).cut(f.Partition.Cut, true)
		})
		return nil
	},
	End: func(w *World, _ int, f *nemesis.Fault) error {
		w.links.Mend(f.Partition.Clients, f.Partition.Nodes, func(client, node int) {
			l := w.network.link(client, node)
			l.cut(f.Partition.Cut, false)
			w.sendHeld(l)
		})
		return nil
	},
}

// cut makes the link hold messages back that go the given way, or no longer.
func (l *link) cut(way nemesis.Direction, hold bool) {
	if way != nemesis.Replies {
		l.requestsCut = hold
	}
	if way != nemesis.Requests {
		l.repliesCut = hold
	}
}
