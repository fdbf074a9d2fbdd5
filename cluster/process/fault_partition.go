//go:build linux

package process

import (
	"github.com/lockstorm/lockstorm/cluster/process/wire"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/world"
)

var partitioning = world.Carry(
	func(w *World, c world.Case[*nemesis.Partition]) error {
		w.disturb(c.Action.Links, c.Action.Way, func(l *wire.Way) { l.Hold(true) })
		return nil
	},
	func(w *World, c world.Case[*nemesis.Partition]) error {
		w.mend(c.Action.Links, c.Action.Way, func(l *wire.Way) { l.Hold(false) })
		return nil
	},
)
