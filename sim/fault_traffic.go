package sim

import (
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/world"
)

// carrying carries out every fault that does nothing but to messages between
// clients and nodes, by the rule that it has for them.
var carrying = world.Carry(
	func(w *World, c world.Case[nemesis.Traffic]) error {
		r := rule{c.Action.Rule(stream(w.seed, c.Stream()).Uint64), c.Number, c.ForGood}
		over, way := c.Action.Over(w.setting)
		for _, links := range over {
			w.disturb(links, way, func(l *lane) { l.rules = append(l.rules, r) })
		}
		return nil
	},
	func(w *World, c world.Case[nemesis.Traffic]) error {
		over, way := c.Action.Over(w.setting)
		for _, links := range over {
			w.mend(links, way, func(l *lane) { w.lift(l, c.Number) })
		}
		return nil
	},
)
