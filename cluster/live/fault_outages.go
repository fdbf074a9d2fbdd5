package live

import (
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/world"
)

// Outages is what can be done to a fleet of [Crasher]s.
func Outages() Repertoire {
	return Repertoire{
		world.Carry(
			func(w *World, c world.Case[*nemesis.Crash]) error { w.goDown(c.Action.Node, Crasher.Kill); return nil },
			func(w *World, c world.Case[*nemesis.Crash]) error { w.comeUp(c.Action.Node, c.Number); return nil },
		).EndingLate(),
		world.Carry(
			func(w *World, c world.Case[*nemesis.Shutdown]) error {
				w.goDown(c.Action.Node, Crasher.Quit)
				return nil
			},
			func(w *World, c world.Case[*nemesis.Shutdown]) error { w.comeUp(c.Action.Node, c.Number); return nil },
		).EndingLate(),
	}
}

func (w *World) crasher(node int) Crasher { return w.server(node).(Crasher) }

// goDown takes a node's server down.
func (w *World) goDown(node int, how func(Crasher)) {
	w.carrier.Record(history.Event{Kind: history.NodeDown, Node: node})
	w.states[node-1] = down
	how(w.crasher(node))
}

// comeUp starts it again, and so ends a fault.
func (w *World) comeUp(node, fault int) {
	w.nemesis.end(fault, func() error { return w.crasher(node).Start(w.over) }, func() {
		w.states[node-1] = up
		w.carrier.Record(history.Event{Kind: history.NodeUp, Node: node, Detail: w.setting.Persistence.Keeps()})
	})
}
