package sim

import "github.com/lockstorm/lockstorm/nemesis"

var clockJumping = nemesis.Carry(
	func(w *World, _ int, j *nemesis.ClockJump) error {
		w.jump(j.Machine, int64(j.By))
		return nil
	},
	func(w *World, _ int, j *nemesis.ClockJump) error {
		w.heal(j.Machine, j.Healing, int64(j.By))
		return nil
	},
)
