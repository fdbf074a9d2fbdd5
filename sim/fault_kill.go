package sim

import (
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/world"
)

var killing = world.Carry(
	func(w *World, c world.Case[*nemesis.Kill]) error {
		w.clients[c.Action.Client-1].kill()
		return nil
	},
	nil,
)
