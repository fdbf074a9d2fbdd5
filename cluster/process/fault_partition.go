//go:build linux

package process

import (
	"github.com/lockstorm/lockstorm/cluster/process/wire"
	"github.com/lockstorm/lockstorm/nemesis"
)

var partitioning = nemesis.Carry(
	func(w *World, _ int, p *nemesis.Partition) error {
		w.disturb(p.Links, p.Way, func(l *wire.Way) { l.Hold(true) })
		return nil
	},
	func(w *World, _ int, p *nemesis.Partition) error {
		w.mend(p.Links, p.Way, func(l *wire.Way) { l.Hold(false) })
		return nil
	},
)
