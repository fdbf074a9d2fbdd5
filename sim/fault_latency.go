package sim

import "github.com/lockstorm/lockstorm/nemesis"

var slowing = nemesis.Carry(
	func(w *World, number int, l *nemesis.Latency) error {
		more := &extra{table: l.Add.Table(), random: w.faultStream(number)}
		w.disturb(l.Links, l.Way, func(l *lane) { l.extra = more })
		return nil
	},
	func(w *World, _ int, l *nemesis.Latency) error {
		w.mend(l.Links, l.Way, func(l *lane) { l.extra = nil })
		return nil
	},
)
