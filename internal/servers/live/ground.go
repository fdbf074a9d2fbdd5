package live

import (
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/internal/world"
)

// ground is the ground clock: the machine's monotonic clock since the world was opened.
// Nothing changes it.
type ground struct {
	machine env.Runtime
	zero    env.Instant
}

// newGround returns the ground clock of a machine. nil is the machine of this program.
func newGround(machine env.Runtime) ground {
	if machine == nil {
		machine = env.System()
	}
	return ground{machine, machine.Now(env.Monotonic)}
}

// now returns the time in nanoseconds.
func (g ground) now() int64 { return int64(g.shows(env.Monotonic).Sub(g.zero)) }

// shows reads a clock of the machine.
func (g ground) shows(which env.Clock) env.Instant { return g.machine.Now(which) }

// instant converts a ground time to the machine's monotonic clock.
func (g ground) instant(at int64) env.Instant {
	if at > int64(env.Never)-max(int64(g.zero), 0) {
		return env.Never
	}
	return g.zero.Add(time.Duration(at))
}

// clock returns a clock that agrees with a clock of the machine now, and advances with the
// ground clock.
func (g ground) clock(which env.Clock) world.Clock {
	return world.ClockShowing(int64(g.shows(which)) - g.now())
}

// clockReadings are a client's clocks, by env.Clock.
type clockReadings [3]world.Clock

// due converts an instant of one of the clocks to the machine's monotonic clock: when the clock shows it, or
// since when it has.
func (h *clockReadings) due(g ground, which env.Clock, until env.Instant) env.Instant {
	if until == env.Never {
		return until
	}
	return g.instant(h[which].Reached(int64(until)))
}
