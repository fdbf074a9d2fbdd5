//go:build linux

package process

import (
	"fmt"

	"github.com/lockstorm/lockstorm/cluster/process/wire"
	"github.com/lockstorm/lockstorm/nemesis"
)

// slowing draws from a stream of the fault's own, so that the delays of one
// fault do not depend on which others came before it.
var slowing = nemesis.Carry(
	func(w *World, number int, l *nemesis.Latency) error {
		random := newRandom(w.seed, fmt.Sprintf("fault %d", number))
		delays := l.Add.Table()
		w.disturb(l.Links, l.Way, func(l *wire.Way) { l.Delay(random.draw(delays)) })
		return nil
	},
	func(w *World, _ int, l *nemesis.Latency) error {
		w.mend(l.Links, l.Way, func(l *wire.Way) { l.Delay(0) })
		return nil
	},
)
