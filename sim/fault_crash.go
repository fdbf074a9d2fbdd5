package sim

import (
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
)

var crashing = fault{
	kind: (*nemesis.Crash)(nil).Kind(),
	begin: func(w *World, f *nemesis.Fault) {
		n := &w.nodes[f.Crash.Node-1]
		n.down = true
		w.Record(&history.Event{Kind: history.NodeDown, Node: n.id})
		if w.setting.Persistence == nemesis.Nothing {
			w.forgetAll(n)
		}
	},
	end: func(w *World, f *nemesis.Fault) {
		n := &w.nodes[f.Crash.Node-1]
		n.down = false
		w.Record(&history.Event{Kind: history.NodeUp, Node: n.id})
	},
}
