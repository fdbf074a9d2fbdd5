package sim

import (
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/world"
)

// stopping disturbs the node's links, because nobody can count on a round trip
// to it meanwhile.
var stopping = world.Carry(
	func(w *World, c world.Case[*nemesis.NodePause]) error {
		n := w.node(c.Action.Node)
		n.stopped, n.forGood = true, c.ForGood
		w.turnout()
		w.links.Disturb(nemesis.Links{Nodes: []int{c.Action.Node}}, untouched)
		return nil
	},
	func(w *World, c world.Case[*nemesis.NodePause]) error {
		n := w.node(c.Action.Node)
		n.stopped = false
		w.turnout()
		w.proceed(n)
		w.letGo(nemesis.Links{Nodes: []int{c.Action.Node}}, untouched)
		return nil
	},
)

// untouched is what a fault does to a link that is as good as ever, while the
// node behind it is not.
func untouched(int, int) {}
