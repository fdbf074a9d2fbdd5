package sim

import (
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
)

var crashing = part{
	Kind: (*nemesis.Crash)(nil).Kind(),
	Begin: func(w *World, _ int, f *nemesis.Fault) error {
		n := &w.nodes[f.Crash.Node-1]
		n.down = true
		w.carrier.Record(history.Event{Kind: history.NodeDown, Node: n.id})
		if w.setting.Persistence == nemesis.Nothing {
			w.forgetAll(n)
		}
		return nil
	},
	End: func(w *World, _ int, f *nemesis.Fault) error {
		n := &w.nodes[f.Crash.Node-1]
		n.down = false
		w.carrier.Record(history.Event{Kind: history.NodeUp, Node: n.id, Detail: w.setting.Persistence.Keeps()})
		return nil
	},
}
