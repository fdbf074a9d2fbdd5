package sim

import "github.com/lockstorm/lockstorm/nemesis"

var clockSlewing = nemesis.Carry(
	func(w *World, _ int, l *nemesis.ClockSlew) error {
		w.hurry(l.Machine, slewRate(l))
		return nil
	},
	func(w *World, _ int, l *nemesis.ClockSlew) error {
		w.hurry(l.Machine, -slewRate(l))
		return nil
	},
)

func slewRate(l *nemesis.ClockSlew) int64 {
	if l.By < 0 {
		return -l.PPM
	}
	return l.PPM
}
