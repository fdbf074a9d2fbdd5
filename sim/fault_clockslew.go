package sim

import (
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/world"
)

var clockSlewing = world.Carry(
	func(w *World, c world.Case[*nemesis.ClockSlew]) error {
		w.hurry(c.Action.Machine, slewRate(c.Action))
		return nil
	},
	func(w *World, c world.Case[*nemesis.ClockSlew]) error {
		w.hurry(c.Action.Machine, -slewRate(c.Action))
		return nil
	},
)

func slewRate(l *nemesis.ClockSlew) int64 {
	if l.By < 0 {
		return -l.PPM
	}
	return l.PPM
}
