package sim

import (
	"fmt"

	"github.com/lockstorm/lockstorm/nemesis"
)

var restoring = nemesis.Carry(
	func(w *World, _ int, o *nemesis.OldSnapshot) error {
		n := w.node(o.Node)
		w.goDown(n, fmt.Sprintf("with the keys of a snapshot %v old", o.Age))
		w.rollBack(n, n.journal.asOf(w.now-int64(o.Age)))
		return nil
	},
	func(w *World, _ int, o *nemesis.OldSnapshot) error {
		w.comeUp(w.node(o.Node))
		return nil
	},
)
