package sim

import "github.com/lockstorm/lockstorm/nemesis"

var slowing = part{
	Kind: (*nemesis.Latency)(nil).Kind(),
	Begin: func(w *World, _ int, f *nemesis.Fault) error {
		w.slow(f.Latency, f.Latency.Add.Table(), 1)
		return nil
	},
	End: func(w *World, _ int, f *nemesis.Fault) error {
		w.slow(f.Latency, nil, -1)
		return nil
	},
}

func (w *World) slow(l *nemesis.Latency, extra *nemesis.Table, trouble int) {
	for _, client := range nemesis.Each(l.Clients, w.setting.Clients) {
		for _, node := range nemesis.Each(l.Nodes, w.setting.Nodes) {
			w.network.link(client, node).extra = extra
			w.trouble(client, node, trouble)
		}
	}
}
