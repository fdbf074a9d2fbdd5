package sim

import "github.com/lockstorm/lockstorm/nemesis"

var pausing = nemesis.Carry(
	func(w *World, _ int, p *nemesis.Pause) error {
		w.clients[p.Client-1].pause(p.First)
		return nil
	},
	func(w *World, _ int, p *nemesis.Pause) error {
		w.clients[p.Client-1].resume()
		return nil
	},
).With(nemesis.TimersFirstFeature)
