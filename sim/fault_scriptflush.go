package sim

import (
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/world"
)

var flushingScripts = world.Carry(
	func(w *World, c world.Case[*nemesis.ScriptFlush]) error {
		w.node(c.Action.Node).loadLater()
		return nil
	},
	nil,
)
