package live

import (
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/world"
)

var killing = world.Carry(
	func(w *World, c world.Case[*nemesis.Kill]) error {
		client := w.client(c.Action.Client)
		client.gate.kill()
		w.carrier.Record(history.Event{Kind: history.Kill, Client: client.number})
		client.finish()
		return nil
	},
	nil,
)
