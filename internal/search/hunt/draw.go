package hunt

import (
	"math/rand/v2"
	"time"

	"github.com/lockstorm/lockstorm/nemesis"
)

// rng draws random values. It uses integers only, so that a hunt is the same on every machine.
type rng struct{ *rand.Rand }

// chance returns true with a probability in percent.
func (d rng) chance(percent int) bool { return d.IntN(100) < percent }

// pick returns one of a list. Repeat a value to pick it more often.
func pick[T any](d rng, of ...T) T { return of[d.IntN(len(of))] }

// between draws a duration in whole microseconds, which are easier to read.
func (d rng) between(lo, hi time.Duration) time.Duration {
	if hi <= lo {
		return lo
	}
	return (lo + time.Duration(d.Int64N(int64(hi-lo)+1))).Truncate(time.Microsecond)
}

// upTo returns a range from 0.
func upTo(d time.Duration) nemesis.Range { return nemesis.Range{Max: d} }

func exactly(d time.Duration) nemesis.Range { return nemesis.Range{Min: d, Max: d} }

// within draws a range between two ends, sometimes a single value.
func (d rng) within(lo, hi time.Duration) nemesis.Range {
	a, b := d.between(lo, hi), d.between(lo, hi)
	if d.chance(25) {
		b = a
	}
	return nemesis.Range{Min: min(a, b), Max: max(a, b)}
}
