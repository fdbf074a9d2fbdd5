package process

import (
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/world"
)

var crashing = world.Carry(
	func(w *World, c world.Case[*nemesis.Crash]) error {
		w.carrier.Record(history.Event{Kind: history.NodeDown, Node: c.Action.Node})
		w.fleet.Server(c.Action.Node).Kill()
		return nil
	},
	func(w *World, c world.Case[*nemesis.Crash]) error {
		if err := w.fleet.Server(c.Action.Node).Start(w.over); err != nil {
			return err
		}
		w.carrier.Record(history.Event{Kind: history.NodeUp, Node: c.Action.Node, Detail: w.setting.Persistence.Keeps()})
		return nil
	},
)
