package sim

import "github.com/lockstorm/lockstorm/nemesis"

var clockFreezing = nemesis.Carry(
	func(w *World, _ int, f *nemesis.ClockFreeze) error {
		w.changeWall(f.Machine, func(c *clock) { c.stop(w.now) })
		return nil
	},
	func(w *World, _ int, f *nemesis.ClockFreeze) error {
		behind := w.wallClock(f.Machine).behind(w.now)
		w.changeWall(f.Machine, func(c *clock) { c.start(w.now) })
		w.heal(f.Machine, f.Healing, -behind)
		return nil
	},
)
