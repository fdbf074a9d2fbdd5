package sim

import "github.com/lockstorm/lockstorm/nemesis"

var killing = nemesis.Carry(
	func(w *World, _ int, k *nemesis.Kill) error {
		w.clients[k.Client-1].kill()
		return nil
	},
	nil,
)
