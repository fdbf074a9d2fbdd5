//go:build linux

package process

import (
	"github.com/lockstorm/lockstorm/cluster/process/wire"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/world"
)

// slowing draws from a stream of the fault's own, so that the delays of one
// fault do not depend on which others came before it.
var slowing = world.Carry(
	func(w *World, c world.Case[*nemesis.Latency]) error {
		random := newRandom(w.seed, c.Stream())
		delays := c.Action.Add.Table()
		w.disturb(c.Action.Links, c.Action.Way, func(l *wire.Way) { l.Delay(random.draw(delays)) })
		return nil
	},
	func(w *World, c world.Case[*nemesis.Latency]) error {
		w.mend(c.Action.Links, c.Action.Way, func(l *wire.Way) { l.Delay(0) })
		return nil
	},
)
