package sim

import "github.com/lockstorm/lockstorm/nemesis"

var clockStrobing = nemesis.Carry(
	func(w *World, number int, o *nemesis.ClockStrobe) error {
		s := &strobe{}
		w.clocks.strobes[number] = s
		w.flip(o, s)
		return nil
	},
	func(w *World, number int, o *nemesis.ClockStrobe) error {
		s := w.clocks.strobes[number]
		if s.off {
			w.jump(o.Machine, -int64(o.By))
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
