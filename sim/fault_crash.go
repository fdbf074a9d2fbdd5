package sim

import "github.com/lockstorm/lockstorm/nemesis"

var crashing = nemesis.Carry(
	func(w *World, number int, c *nemesis.Crash) error {
		n := w.node(c.Node)
		w.goDown(n, w.setting.Persistence.Keeps())
		w.keepWritten(n, number)
		w.restartAfter(n, number, c.RestartDelay)
		return nil
	},
	func(w *World, _ int, c *nemesis.Crash) error {
		w.comeUp(w.node(c.Node))
		return nil
	},
).With(nemesis.RestartDelayFeature)

// keepWritten is what a process loses that dies: nothing that it has written to
// a file, for the kernel has it.
func (w *World) keepWritten(n *node, fault int) {
	if w.setting.Persistence == nemesis.Nothing {
		w.forgetEvery(n, anyKey, "forgotten", fault)
		n.journal.settle()
	}
}
