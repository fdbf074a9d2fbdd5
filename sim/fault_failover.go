package sim

import "github.com/lockstorm/lockstorm/nemesis"

// failingOver makes one node of a master and its replica, whose wall clock is
// the master's: what is left of the master is its name. The new master has a
// replica as well, which is in step with it when it begins.
var failingOver = nemesis.Carry(
	func(w *World, _ int, f *nemesis.Failover) error {
		n := w.node(f.Node)
		w.goDown(n, "as its replica, with the keys that had come to it")
		w.rollBack(n, n.journal.replicated(w.now))
		return nil
	},
	func(w *World, _ int, f *nemesis.Failover) error {
		w.comeUp(w.node(f.Node))
		return nil
	},
)
