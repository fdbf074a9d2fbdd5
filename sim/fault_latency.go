package sim

import (
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/world"
)

var slowing = world.Carry(
	func(w *World, c world.Case[*nemesis.Latency]) error {
		more := &extra{table: c.Action.Add.Table(), random: stream(w.seed, c.Stream())}
		w.disturb(c.Action.Links, c.Action.Way, func(l *lane) { l.extra = more })
		return nil
	},
	func(w *World, c world.Case[*nemesis.Latency]) error {
		w.mend(c.Action.Links, c.Action.Way, func(l *lane) { l.extra = nil })
		return nil
	},
)
