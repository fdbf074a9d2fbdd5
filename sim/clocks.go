package sim

import (
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
)

// Ground is the time of the world itself.
func (w *World) Ground() history.Time { return w.time() }

// ClientClock is what a clock of the client shows.
func (w *World) ClientClock(client int, which env.Clock) env.Instant {
	return w.clients[client-1].Now(which)
}

// NodeClock is what the wall clock of the node shows.
func (w *World) NodeClock(node int) env.Instant { return env.Instant(w.node(node).wall.at(w.now)) }

// clockFaults is what the ends of clock faults have to know, by the number of
// the fault.
type clockFaults struct {
	rates   map[int]int64 // ground time at which a clock-rate began
	strobes map[int]*strobe
}

func newClockFaults() clockFaults {
	return clockFaults{rates: map[int]int64{}, strobes: map[int]*strobe{}}
}

// changeClocks does something to every clock of a machine. A node has two: keys
// live by its wall clock, and sessions of a store by its monotonic one.
func (w *World) changeClocks(m nemesis.Machine, change func(*clock)) {
	if m.Client == 0 {
		change(&w.node(m.Node).mono)
		w.changeWall(m, change)
		return
	}
	w.catchUp()
	c := w.clients[m.Client-1]
	for i := range c.clocks {
		change(&c.clocks[i])
	}
	c.clocksChanged()
}

// changeWall does something to the wall clock of a machine.
func (w *World) changeWall(m nemesis.Machine, change func(*clock)) {
	w.catchUp()
	change(w.wallClock(m))
	if m.Client != 0 {
		w.clients[m.Client-1].clocksChanged()
	} else {
		w.clockChanged(w.node(m.Node))
	}
}

// wallClock returns the wall clock of a machine.
func (w *World) wallClock(m nemesis.Machine) *clock {
	if m.Client != 0 {
		return &w.clients[m.Client-1].clocks[env.Wall]
	}
	return &w.nodes[m.Node-1].wall
}

// jump steps the wall clock of a machine.
func (w *World) jump(m nemesis.Machine, by int64) {
	w.changeWall(m, func(c *clock) { c.jump(w.now, by) })
}

// hurry makes all clocks of a machine run faster than before, or slower.
func (w *World) hurry(m nemesis.Machine, ppm int64) {
	w.changeClocks(m, func(c *clock) { c.hurry(w.now, ppm) })
}

// heal takes back, in the way of a fault, the error that this fault has brought
// into the wall clock of a machine: how far it is ahead.
func (w *World) heal(m nemesis.Machine, how nemesis.Healing, ahead int64) {
	switch {
	case ahead == 0:
	case how.Heal == nemesis.HealStep:
		w.jump(m, -ahead)
	case how.Heal == nemesis.HealSlew:
		ppm := how.SlewPPM()
		lasts := nemesis.SlewTime(time.Duration(-ahead), ppm)
		if ahead > 0 {
			ppm = -ppm
		}
		w.hurry(m, ppm)
		w.moveLater(w.now+int64(lasts), func() { w.hurry(m, -ppm) })
	}
}
