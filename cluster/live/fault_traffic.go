package live

import (
	"github.com/lockstorm/lockstorm/cluster/wire"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/world"
)

// carrying carries out every fault that does nothing but to messages between
// clients and nodes, by the rule that it has for them.
var carrying = world.Carry(
	func(w *World, c world.Case[nemesis.Traffic]) error {
		r := c.Action.Rule(draws(w.seed, c.Stream()))
		over, way := c.Action.Over(w.setting)
		for _, links := range over {
			w.disturb(links, way, func(l *wire.Way) { l.Impose(c.Number, r) })
		}
		return nil
	},
	func(w *World, c world.Case[nemesis.Traffic]) error {
		over, way := c.Action.Over(w.setting)
		for _, links := range over {
			w.mend(links, way, func(l *wire.Way) { l.Lift(c.Number) })
		}
		return nil
	},
)
