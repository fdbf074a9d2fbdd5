package sim

import (
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/world"
)

var slowingAccess = world.Carry(
	func(w *World, c world.Case[*nemesis.GuardLatency]) error {
		r := rule{c.Action.Rule(stream(w.seed, c.Stream()).Uint64), c.Number, c.ForGood}
		for _, client := range nemesis.Each(c.Action.Clients, w.setting.Clients) {
			l := &w.network.toGuard[client-1]
			l.rules = append(l.rules, r)
		}
		return nil
	},
	func(w *World, c world.Case[*nemesis.GuardLatency]) error {
		for _, client := range nemesis.Each(c.Action.Clients, w.setting.Clients) {
			w.network.toGuard[client-1].without(c.Number)
		}
		return nil
	},
)
