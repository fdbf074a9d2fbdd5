package sim

import "github.com/lockstorm/lockstorm/nemesis"

var partitioning = part{
	Kind: (*nemesis.Partition)(nil).Kind(),
	Begin: func(w *World, _ int, f *nemesis.Fault) error {
		w.cut(f.Partition, true)
		return nil
	},
	End: func(w *World, _ int, f *nemesis.Fault) error {
		w.cut(f.Partition, false)
		return nil
	},
}

func (w *World) cut(p *nemesis.Partition, down bool) {
	for _, client := range nemesis.Each(p.Clients, w.setting.Clients) {
		for _, node := range nemesis.Each(p.Nodes, w.setting.Nodes) {
			l := w.network.link(client, node)
			if p.Cut != nemesis.Replies {
				l.requestsCut = down
			}
			if p.Cut != nemesis.Requests {
				l.repliesCut = down
			}
			if down {
				w.trouble(client, node, 1)
				continue
			}
			w.mend(l)
			w.trouble(client, node, -1)
		}
	}
}
