package sim

import "github.com/lockstorm/lockstorm/nemesis"

var snapshotting = nemesis.Carry(
	func(w *World, _ int, n *nemesis.Snapshot) error {
		w.clients[n.Client-1].pause(nemesis.RepliesFirst)
		w.changeClocks(nemesis.Machine{Client: n.Client}, func(c *clock) { c.stop(w.now) })
		return nil
	},
	func(w *World, _ int, n *nemesis.Snapshot) error {
		machine := nemesis.Machine{Client: n.Client}
		behind := w.wallClock(machine).behind(w.now)
		w.changeClocks(machine, func(c *clock) { c.start(w.now) })
		w.clients[n.Client-1].resume()
		w.heal(machine, n.Healing, -behind)
		return nil
	},
)
