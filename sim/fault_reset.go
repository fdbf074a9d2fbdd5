package sim

import "github.com/lockstorm/lockstorm/nemesis"

var resetting = nemesis.Carry(
	func(w *World, _ int, r *nemesis.Reset) error {
		w.links.Disturb(r.Links, func(client, node int) {
			w.network.link(client, node).each(r.Way, func(l *lane) { l.resets = true })
			w.breakUnderWay(client, node, r.Way)
		})
		return nil
	},
	func(w *World, _ int, r *nemesis.Reset) error {
		w.mend(r.Links, r.Way, func(l *lane) { l.resets = false })
		return nil
	},
)
