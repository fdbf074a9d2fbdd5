package sim

import (
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/world"
)

// evicting waits for the node's thread if that does something else.
var evicting = world.Carry(
	func(w *World, c world.Case[*nemesis.Evict]) error {
		n := w.node(c.Action.Node)
		if n.down {
			return nil
		}
		n.evicting = c.Number
		if !n.busy() {
			w.evict(n)
		}
		return nil
	},
	nil,
)
