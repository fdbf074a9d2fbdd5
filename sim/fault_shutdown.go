package sim

import "github.com/lockstorm/lockstorm/nemesis"

var shuttingDown = nemesis.Carry(
	func(w *World, number int, s *nemesis.Shutdown) error {
		n := w.node(s.Node)
		w.answer(n) // a server finishes what it has begun
		w.goDown(n, w.setting.Persistence.Keeps())
		w.keepWritten(n, number)
		n.journal.settle()
		w.restartAfter(n, number, s.RestartDelay)
		return nil
	},
	func(w *World, _ int, s *nemesis.Shutdown) error {
		w.comeUp(w.node(s.Node))
		return nil
	},
).With(nemesis.RestartDelayFeature)
