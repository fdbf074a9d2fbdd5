package sim

import (
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/world"
)

var slowingAccess = world.Carry(
	func(w *World, c world.Case[*nemesis.GuardLatency]) error {
		r := c.Action.Rule(stream(w.seed, c.Stream()).Uint64)
		for _, client := range nemesis.Each(c.Action.Clients, w.setting.Clients) {
			l := &w.network.toGuard[client-1]
			l.rules = l.rules.With(r, c.Number, c.ForGood)
		}
		return nil
	},
	func(w *World, c world.Case[*nemesis.GuardLatency]) error {
		for _, client := range nemesis.Each(c.Action.Clients, w.setting.Clients) {
			l := &w.network.toGuard[client-1]
			l.rules = l.rules.Without(c.Number)
		}
		return nil
	},
)
