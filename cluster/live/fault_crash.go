package live

import (
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/world"
)

// Crashes is for fleets of [Crasher]s.
var Crashes = world.Carry(
	func(w *World, c world.Case[*nemesis.Crash]) error {
		w.carrier.Record(history.Event{Kind: history.NodeDown, Node: c.Action.Node})
		w.crasher(c.Action.Node).Kill()
		return nil
	},
	func(w *World, c world.Case[*nemesis.Crash]) error {
		node := c.Action.Node
		w.nemesis.end(c.Number, func() error { return w.crasher(node).Start(w.over) }, func() {
			w.carrier.Record(history.Event{Kind: history.NodeUp, Node: node, Detail: w.setting.Persistence.Keeps()})
		})
		return nil
	},
).EndingLate()

func (w *World) crasher(node int) Crasher { return w.server(node).(Crasher) }
