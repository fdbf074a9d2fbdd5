package fuzz

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// Chase is what it took one hunt to find what it was after.
type Chase struct {
	Found bool          // false: it ended without
	Runs  int           // that it made
	Took  time.Duration // on the clock of whoever waited
}

// Chases are hunts for the same thing with other seeds.
type Chases []Chase

// Found counts the hunts that have found what they were after.
func (c Chases) Found() (n int) {
	for _, one := range c {
		if one.Found {
			n++
		}
	}
	return n
}

// Runs is how many runs so many percent of the hunts needed at most; false: so many of
// them found nothing.
func (c Chases) Runs(percent float64) (int, bool) {
	return quantile(c, percent, func(one Chase) int { return one.Runs })
}

// Took is as [Chases.Runs], and how long they took.
func (c Chases) Took(percent float64) (time.Duration, bool) {
	return quantile(c, percent, func(one Chase) time.Duration { return one.Took })
}

// quantile returns the smallest value that so many percent of the hunts do not exceed. A
// hunt that found nothing would have needed more than any other.
func quantile[T cmp.Ordered](c Chases, percent float64, of func(Chase) T) (value T, found bool) {
	var values []T
	for _, one := range c {
		if one.Found {
			values = append(values, of(one))
		}
	}
	rank := max(int(math.Ceil(percent/100*float64(len(c)))), 1)
	if rank > len(values) {
		return value, false
	}
	slices.Sort(values)
	return values[rank-1], true
}
