package sim

import "github.com/lockstorm/lockstorm/nemesis"

var narrowing = nemesis.Carry(
	func(w *World, _ int, b *nemesis.Bandwidth) error {
		w.disturb(b.Links, b.Way, func(l *lane) { l.narrow = &bandwidth{perSecond: b.BytesPerSecond} })
		return nil
	},
	func(w *World, _ int, b *nemesis.Bandwidth) error {
		w.mend(b.Links, b.Way, w.widen)
		return nil
	},
)
