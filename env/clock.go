package env

import (
	"fmt"
	"math"
	"time"
)

// Clock is one of the clocks of a client's machine.
type Clock uint8

// The clocks. Everything that waits, waits on Monotonic.
const (
	// Monotonic is never stepped and counts from an arbitrary origin. It stands
	// still while the machine is suspended.
	Monotonic Clock = iota
	// Boottime is like Monotonic, and counts the time in suspension too.
	Boottime
	// Wall shows the time of day, in nanoseconds since the Unix epoch. It can
	// be stepped, forward and back.
	Wall

	clockEnd
)

var clockNames = [clockEnd]string{Monotonic: "monotonic", Boottime: "boottime", Wall: "wall"}

func (c Clock) String() string {
	if c >= clockEnd {
		return fmt.Sprintf("Clock(%d)", uint8(c))
	}
	return clockNames[c]
}

// ParseClock returns the clock of that name.
func ParseClock(name string) (Clock, error) {
	for c := range clockEnd {
		if clockNames[c] == name {
			return c, nil
		}
	}
	return 0, fmt.Errorf("unknown clock %q: want %v", name, clockNames)
}

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
