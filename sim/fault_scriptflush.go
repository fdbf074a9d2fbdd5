package sim

import "github.com/lockstorm/lockstorm/nemesis"

var flushingScripts = nemesis.Carry(
	func(w *World, _ int, f *nemesis.ScriptFlush) error {
		w.node(f.Node).loadLater()
		return nil
	},
	nil,
)
