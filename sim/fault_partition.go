package sim

import (
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/world"
)

var partitioning = world.Carry(
	func(w *World, c world.Case[*nemesis.Partition]) error {
		w.cut(c.Action.Links, c.Action.Way, c.ForGood)
		return nil
	},
	func(w *World, c world.Case[*nemesis.Partition]) error {
		w.join(c.Action.Links, c.Action.Way)
		return nil
	},
)

// cut makes links hold back what comes to them, perhaps for good; join lets it
// go on.
func (w *World) cut(which nemesis.Links, way nemesis.Direction, forGood bool) {
	w.disturb(which, way, func(l *lane) { l.cut, l.forGood = true, forGood })
}

func (w *World) join(which nemesis.Links, way nemesis.Direction) {
	w.letGo(which, func(client, node int) {
		l := w.network.link(client, node)
		l.each(way, func(l *lane) { l.cut = false })
		w.sendHeld(l)
	})
}
