package sim

import (
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/world"
)

var clockFreezing = world.Carry(
	func(w *World, c world.Case[*nemesis.ClockFreeze]) error {
		w.changeWall(c.Action.Machine, func(c *clock) { c.stop(w.now) })
		return nil
	},
	func(w *World, c world.Case[*nemesis.ClockFreeze]) error {
		behind := w.wallClock(c.Action.Machine).behind(w.now)
		w.changeWall(c.Action.Machine, func(c *clock) { c.start(w.now) })
		w.heal(c.Action.Machine, c.Action.Healing, -behind)
		return nil
	},
)
