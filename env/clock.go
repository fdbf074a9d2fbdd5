package env

import (
	"math"
	"time"
)

// Instant is a reading of one clock, in nanoseconds since an origin that is
// that clock's own. Readings of two different clocks must not be compared.
type Instant int64

// Never is an instant that no clock reaches.
const Never Instant = math.MaxInt64

// Add returns the instant d later on the same clock. Adding to [Never], or
// past it, gives Never.
func (t Instant) Add(d time.Duration) Instant {
	if t == Never {
		return Never
	}
	sum := t + Instant(d)
	if d > 0 && sum < t {
		return Never
	}
	return sum
}

// Sub returns the time from u to t, two readings of the same clock.
func (t Instant) Sub(u Instant) time.Duration { return time.Duration(t - u) }
