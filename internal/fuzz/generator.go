package fuzz

import (
	"math/rand/v2"
	"time"

	"github.com/lockstorm/lockstorm/nemesis"
)

// dice draw what a ground is made of. They draw integers alone, so that a hunt is the
// same on every machine.
type dice struct{ *rand.Rand }

// chance draws true in so many of a hundred cases.
func (d dice) chance(percent int) bool { return d.IntN(100) < percent }

// one draws one of a list; who stands in it twice is drawn twice as often.
func one[T any](d dice, of ...T) T { return of[d.IntN(len(of))] }

// between draws a duration, in whole microseconds so that it is easy to read.
func (d dice) between(lo, hi time.Duration) time.Duration {
	if hi <= lo {
		return lo
	}
	return (lo + time.Duration(d.Int64N(int64(hi-lo)+1))).Truncate(time.Microsecond)
}

// upTo is a range from nothing.
func upTo(d time.Duration) nemesis.Range { return nemesis.Range{Max: d} }

func exactly(d time.Duration) nemesis.Range { return nemesis.Range{Min: d, Max: d} }

// within is any range between two ends, now and then a single value.
func (d dice) within(lo, hi time.Duration) nemesis.Range {
	a, b := d.between(lo, hi), d.between(lo, hi)
	if d.chance(25) {
		b = a
	}
	return nemesis.Range{Min: min(a, b), Max: max(a, b)}
}
