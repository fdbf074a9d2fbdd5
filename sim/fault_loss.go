package sim

import (
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/world"
)

var losing = world.Carry(
	func(w *World, c world.Case[*nemesis.Loss]) error {
		on := &loss{fault: c.Action, random: stream(w.seed, c.Stream())}
		w.disturb(c.Action.Links, c.Action.Way, func(l *lane) { l.loss = on })
		return nil
	},
	func(w *World, c world.Case[*nemesis.Loss]) error {
		w.mend(c.Action.Links, c.Action.Way, func(l *lane) { l.loss = nil })
		return nil
	},
)
