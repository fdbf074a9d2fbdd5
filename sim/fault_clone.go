package sim

import (
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/world"
)

var cloning = world.Carry(
	func(w *World, c world.Case[*nemesis.Clone]) error {
		clones := nemesis.Each(c.Action.Clients, w.setting.Clients)
		for _, client := range clones[1:] {
			*w.clients[client-1].random = *w.clients[clones[0]-1].random
		}
		return nil
	},
	nil,
)
