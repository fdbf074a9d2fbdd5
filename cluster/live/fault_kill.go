package live

import (
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/world"
)

var killing = world.Carry(
	func(w *World, c world.Case[*nemesis.Kill]) error {
		w.body(c.Action.Client).kill()
		w.carrier.Record(history.Event{Kind: history.Kill, Client: c.Action.Client})
		w.finish(c.Action.Client)
		return nil
	},
	nil,
)
