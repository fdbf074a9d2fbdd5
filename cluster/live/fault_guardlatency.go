package live

import (
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/world"
)

var slowingAccess = world.Carry(
	func(w *World, c world.Case[*nemesis.GuardLatency]) error {
		rule := c.Action.Rule(draws(w.seed, c.Stream()))
		for _, client := range nemesis.Each(c.Action.Clients, w.setting.Clients) {
			w.resource.change(client, func(l world.Rules) world.Rules { return l.With(rule, c.Number, c.ForGood) })
		}
		return nil
	},
	func(w *World, c world.Case[*nemesis.GuardLatency]) error {
		for _, client := range nemesis.Each(c.Action.Clients, w.setting.Clients) {
			w.resource.change(client, func(l world.Rules) world.Rules { return l.Without(c.Number) })
		}
		return nil
	},
)
