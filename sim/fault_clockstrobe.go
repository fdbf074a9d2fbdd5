package sim

import (
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/world"
)

var clockStrobing = world.Carry(
	func(w *World, c world.Case[*nemesis.ClockStrobe]) error {
		s := &strobe{}
		w.clocks.strobes[c.Number] = s
		w.flip(c.Action, s)
		return nil
	},
	func(w *World, c world.Case[*nemesis.ClockStrobe]) error {
		s := w.clocks.strobes[c.Number]
		if s.off {
			w.jump(c.Action.Machine, -int64(c.Action.By))
		}
		s.over = true
		return nil
	},
)

// strobe is how far a clock-strobe has come.
type strobe struct {
	off  bool // the clock shows the other time
	over bool
}

// flip shows the other of the two times, and will do so again after a period.
func (w *World) flip(o *nemesis.ClockStrobe, s *strobe) {
	if s.over {
		return
	}
	by := int64(o.By)
	if s.off {
		by = -by
	}
	s.off = !s.off
	w.jump(o.Machine, by)
	w.moveLater(w.now+int64(o.Period), func() { w.flip(o, s) })
}
