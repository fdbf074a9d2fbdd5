package sim

import "github.com/lockstorm/lockstorm/nemesis"

var clockRunning = nemesis.Carry(
	func(w *World, number int, r *nemesis.ClockRate) error {
		w.clocks.rates[number] = w.now
		w.hurry(r.Machine, r.PPM)
		return nil
	},
	func(w *World, number int, r *nemesis.ClockRate) error {
		w.hurry(r.Machine, -r.PPM)
		w.heal(r.Machine, r.Healing, scale(w.now-w.clocks.rates[number], r.PPM))
		return nil
	},
)
