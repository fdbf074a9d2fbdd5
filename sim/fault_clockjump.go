package sim

import (
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/world"
)

var clockJumping = world.Carry(
	func(w *World, c world.Case[*nemesis.ClockJump]) error {
		w.jump(c.Action.Machine, int64(c.Action.By))
		return nil
	},
	func(w *World, c world.Case[*nemesis.ClockJump]) error {
		w.heal(c.Action.Machine, c.Action.Healing, int64(c.Action.By))
		return nil
	},
)
