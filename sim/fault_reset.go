package sim

import (
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/world"
)

var resetting = world.Carry(
	func(w *World, c world.Case[*nemesis.Reset]) error {
		w.links.Disturb(c.Action.Links, func(client, node int) {
			w.network.link(client, node).each(c.Action.Way, func(l *lane) { l.resets = true })
			w.breakUnderWay(client, node, c.Action.Way)
		})
		return nil
	},
	func(w *World, c world.Case[*nemesis.Reset]) error {
		w.mend(c.Action.Links, c.Action.Way, func(l *lane) { l.resets = false })
		return nil
	},
)
