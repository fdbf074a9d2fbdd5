package sim

import (
	"fmt"

	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/world"
)

var restoring = world.Carry(
	func(w *World, c world.Case[*nemesis.OldSnapshot]) error {
		n := w.node(c.Action.Node)
		w.goDown(n, fmt.Sprintf("with the keys of a snapshot %v old", c.Action.Age))
		w.rollBack(n, n.journal.asOf(w.now-int64(c.Action.Age)))
		return nil
	},
	func(w *World, c world.Case[*nemesis.OldSnapshot]) error {
		w.comeUp(w.node(c.Action.Node))
		return nil
	},
).Opening(func(w *World, c world.Case[*nemesis.OldSnapshot]) {
	j := w.keepJournal(w.node(c.Action.Node))
	j.age = max(j.age, int64(c.Action.Age))
})
