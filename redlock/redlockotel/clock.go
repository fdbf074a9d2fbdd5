package redlockotel

import (
	"time"

	"github.com/lockstorm/lockstorm/env"
)

// timeline turns readings of the clock by which spans last into times of day, as it
// was when the timeline began: no step of the time of day bends it.
type timeline struct {
	wall, began env.Instant // the same moment, on env.Wall and on env.Boottime
}

func (t *Telemetry) timeline() timeline {
	return timeline{wall: t.runtime.Now(env.Wall), began: t.elapsed()}
}

// elapsed reads the clock by which spans last: it counts suspension.
func (t *Telemetry) elapsed() env.Instant { return t.runtime.Now(env.Boottime) }

// at is the time of a reading.
func (l timeline) at(reading env.Instant) time.Time {
	return time.Unix(0, int64(l.wall)).Add(reading.Sub(l.began))
}
