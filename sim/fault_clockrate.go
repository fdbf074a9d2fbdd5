package sim

import (
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/world"
)

var clockRunning = world.Carry(
	func(w *World, c world.Case[*nemesis.ClockRate]) error {
		w.clocks.rates[c.Number] = w.now
		w.hurry(c.Action.Machine, c.Action.PPM)
		return nil
	},
	func(w *World, c world.Case[*nemesis.ClockRate]) error {
		w.hurry(c.Action.Machine, -c.Action.PPM)
		w.heal(c.Action.Machine, c.Action.Healing, scale(w.now-w.clocks.rates[c.Number], c.Action.PPM))
		return nil
	},
)
