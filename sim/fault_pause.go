package sim

import (
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/world"
)

var pausing = world.Carry(
	func(w *World, c world.Case[*nemesis.Pause]) error {
		w.clients[c.Action.Client-1].pause(c.Action.First)
		return nil
	},
	func(w *World, c world.Case[*nemesis.Pause]) error {
		w.clients[c.Action.Client-1].resume()
		return nil
	},
).With(nemesis.TimersFirstFeature)
