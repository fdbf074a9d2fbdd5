package live

import (
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/world"
)

var killing = world.Carry(
	func(w *World, c world.Case[*nemesis.Kill]) error {
		client := c.Action.Client
		if w.dead[client-1] {
			return nil
		}
		w.dead[client-1] = true
		w.body(client).kill()
		w.carrier.Record(history.Event{Kind: history.Kill, Client: client})
		w.finish(client)
		return nil
	},
	nil,
)
