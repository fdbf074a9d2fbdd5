package sim

import (
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/world"
)

var snapshotting = world.Carry(
	func(w *World, c world.Case[*nemesis.Snapshot]) error {
		w.clients[c.Action.Client-1].pause(nemesis.RepliesFirst)
		w.changeClocks(nemesis.Machine{Client: c.Action.Client}, func(c *clock) { c.stop(w.now) })
		return nil
	},
	func(w *World, c world.Case[*nemesis.Snapshot]) error {
		machine := nemesis.Machine{Client: c.Action.Client}
		behind := w.wallClock(machine).behind(w.now)
		w.changeClocks(machine, func(c *clock) { c.start(w.now) })
		w.clients[c.Action.Client-1].resume()
		w.heal(machine, c.Action.Healing, -behind)
		return nil
	},
)
