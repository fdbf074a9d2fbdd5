package sim

import (
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/world"
)

// failingOver makes one node of a master and its replica, whose wall clock is
// the master's: what is left of the master is its name. The new master has a
// replica as well, which is in step with it when it begins.
var failingOver = world.Carry(
	func(w *World, c world.Case[*nemesis.Failover]) error {
		n := w.node(c.Action.Node)
		w.goDown(n, "as its replica, with the keys that had come to it")
		w.rollBack(n, n.journal.replicated(w.now))
		return nil
	},
	func(w *World, c world.Case[*nemesis.Failover]) error {
		w.comeUp(w.node(c.Action.Node))
		return nil
	},
).Opening(func(w *World, c world.Case[*nemesis.Failover]) {
	w.keepJournal(w.node(c.Action.Node)).lag = w.setting.Replication.Table()
})
