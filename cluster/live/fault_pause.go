package live

import (
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/world"
)

var pausing = world.Carry(
	func(w *World, c world.Case[*nemesis.Pause]) error {
		w.carrier.Record(history.Event{Kind: history.Pause, Client: c.Action.Client})
		w.client(c.Action.Client).gate.pause()
		return nil
	},
	func(w *World, c world.Case[*nemesis.Pause]) error {
		w.carrier.Record(history.Event{Kind: history.Resume, Client: c.Action.Client})
		w.client(c.Action.Client).gate.resume()
		return nil
	},
)
