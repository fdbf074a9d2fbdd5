package live

import (
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/world"
)

// cloning gives clients one state of randomness. It need not be that which one of them
// had: nobody can tell, and clients that are processes of their own need not be asked.
var cloning = world.Carry(
	func(w *World, c world.Case[*nemesis.Clone]) error {
		for _, client := range nemesis.Each(c.Action.Clients, w.setting.Clients) {
			w.body(client).draws(c.Stream())
		}
		return nil
	},
	nil,
)
