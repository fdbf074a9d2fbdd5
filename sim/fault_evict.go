package sim

import "github.com/lockstorm/lockstorm/nemesis"

// evicting waits for the node's thread if that does something else.
var evicting = nemesis.Carry(
	func(w *World, number int, e *nemesis.Evict) error {
		n := w.node(e.Node)
		if n.down {
			return nil
		}
		n.evicting = number
		if !n.busy() {
			w.evict(n)
		}
		return nil
	},
	nil,
)
