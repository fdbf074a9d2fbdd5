package sim

import (
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/world"
)

var crashing = world.Carry(
	func(w *World, c world.Case[*nemesis.Crash]) error {
		n := w.node(c.Action.Node)
		w.goDown(n, w.setting.Persistence.Keeps())
		w.keepWritten(n)
		w.restartAfter(n, c.Number, c.Action.RestartDelay)
		return nil
	},
	func(w *World, c world.Case[*nemesis.Crash]) error {
		w.comeUp(w.node(c.Action.Node))
		return nil
	},
).With(nemesis.RestartDelayFeature)

// keepWritten is what a process loses that dies: nothing that it has written to
// a file, for the kernel has it.
func (w *World) keepWritten(n *node) {
	if w.setting.Persistence == nemesis.Nothing {
		w.forgetEvery(n, anyKey, history.Forgotten)
		n.journal.settle()
	}
}
