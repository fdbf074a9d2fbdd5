package sim

import "github.com/lockstorm/lockstorm/nemesis"

var slowing = part{
	Kind: (*nemesis.Latency)(nil).Kind(),
	Begin: func(w *World, _ int, f *nemesis.Fault) error {
		extra := f.Latency.Add.Table()
		w.links.Disturb(f.Latency.Clients, f.Latency.Nodes, func(client, node int) {
			w.network.link(client, node).extra = extra
		})
		return nil
	},
	End: func(w *World, _ int, f *nemesis.Fault) error {
		w.links.Mend(f.Latency.Clients, f.Latency.Nodes, func(client, node int) {
			w.network.link(client, node).extra = nil
		})
		return nil
	},
}
