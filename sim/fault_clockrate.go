package sim

import "github.com/lockstorm/lockstorm/nemesis"

var clockRunning = part{
	Kind: (*nemesis.ClockRate)(nil).Kind(),
	Begin: func(w *World, _ int, f *nemesis.Fault) error {
		w.runClocks(f.ClockRate, f.ClockRate.PPM)
		return nil
	},
	End: func(w *World, _ int, f *nemesis.Fault) error {
		w.runClocks(f.ClockRate, 0)
		return nil
	},
}

// runClocks changes the rate of all clocks of a node or a client.
func (w *World) runClocks(r *nemesis.ClockRate, ppm int64) {
	w.wallClock(r.Node, r.Client).run(w.now, ppm)
	if r.Client == 0 {
		return
	}
	c := w.clients[r.Client-1]
	c.mono.run(w.now, ppm)
	w.lapses.ClockChanged(w.time(), c.id)
	for _, co := range c.coroutines {
		if co.parked {
			co.setTimer()
		}
	}
}
