package sim

import (
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/world"
)

var shuttingDown = world.Carry(
	func(w *World, c world.Case[*nemesis.Shutdown]) error {
		n := w.node(c.Action.Node)
		w.answer(n) // a server finishes what it has begun
		w.goDown(n, w.setting.Persistence.Keeps())
		w.keepWritten(n)
		n.journal.settle()
		w.restartAfter(n, c.Number, c.Action.RestartDelay)
		return nil
	},
	func(w *World, c world.Case[*nemesis.Shutdown]) error {
		w.comeUp(w.node(c.Action.Node))
		return nil
	},
).With(nemesis.RestartDelayFeature)
