package sim

import (
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/world"
)

var splitting = world.Carry(
	func(w *World, c world.Case[*nemesis.Split]) error {
		for _, links := range c.Action.Cuts(w.setting) {
			w.cut(links, nemesis.Both, c.ForGood)
		}
		return nil
	},
	func(w *World, c world.Case[*nemesis.Split]) error {
		for _, links := range c.Action.Cuts(w.setting) {
			w.join(links, nemesis.Both)
		}
		return nil
	},
)
