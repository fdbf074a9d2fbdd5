package keywatch

import (
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
)

// serverClock is by how much a server's wall clock is ahead of the machine's monotonic clock, as measured: the
// server reads its clock between a request and the reply. It cannot be used once it was seen to be set, or to run at
// another rate: then nobody knows what it showed in between.
type serverClock struct {
	least, most time.Duration
	known, lost bool
}

// read notes that the server read its clock, in microseconds since 1970, between two instants. 0: it did not say.
func (c *serverClock) read(shown int64, after, before env.Instant) {
	if shown == 0 {
		return
	}
	at := env.Instant(shown * int64(time.Microsecond))
	least, most := at.Sub(before), at.Add(time.Microsecond).Sub(after)
	if c.known {
		least, most = max(least, c.least), min(most, c.most)
	}
	c.least, c.most, c.known = least, most, true
	c.lost = c.lost || least > most
}

// latest returns the latest instant of the machine's monotonic clock, in nanoseconds, at which the server's clock
// shows a time, in nanoseconds since 1970. 0: it is not known.
func (c *serverClock) latest(shown int64) history.Time {
	if !c.known || c.lost {
		return 0
	}
	return history.Time(env.Instant(shown).Add(-c.least))
}
