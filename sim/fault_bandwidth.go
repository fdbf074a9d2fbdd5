package sim

import (
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/world"
)

var narrowing = world.Carry(
	func(w *World, c world.Case[*nemesis.Bandwidth]) error {
		w.disturb(c.Action.Links, c.Action.Way, func(l *lane) { l.narrow = &bandwidth{perSecond: c.Action.BytesPerSecond} })
		return nil
	},
	func(w *World, c world.Case[*nemesis.Bandwidth]) error {
		w.mend(c.Action.Links, c.Action.Way, w.widen)
		return nil
	},
)
