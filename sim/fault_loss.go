package sim

import "github.com/lockstorm/lockstorm/nemesis"

var losing = nemesis.Carry(
	func(w *World, number int, l *nemesis.Loss) error {
		on := &loss{fault: l, random: w.faultStream(number)}
		w.disturb(l.Links, l.Way, func(l *lane) { l.loss = on })
		return nil
	},
	func(w *World, _ int, l *nemesis.Loss) error {
		w.mend(l.Links, l.Way, func(l *lane) { l.loss = nil })
		return nil
	},
)
