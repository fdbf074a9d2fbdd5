package checker

import (
	"math/bits"
	"time"
)

// histogram counts durations in buckets that are 1/32 of a power of two wide,
// after the way of HdrHistogram: memory is fixed, the error relative.
type histogram struct {
	buckets [64 * perPower]int
	total   int
	longest time.Duration
}

const (
	powerBits = 5
	perPower  = 1 << powerBits
)

func (g *histogram) add(d time.Duration) {
	g.buckets[bucket(d)]++
	g.total++
	g.longest = max(g.longest, d)
}

// bucket returns the bucket of a duration. Below perPower nanoseconds each has
// its own.
func bucket(d time.Duration) int {
	v := uint64(max(d, 0))
	if v < perPower {
		return int(v)
	}
	shift := bits.Len64(v) - powerBits - 1
	return (shift+1)*perPower + int(v>>shift) - perPower
}

// upper returns the longest duration of a bucket.
func upper(bucket int) time.Duration {
	if bucket < perPower {
		return time.Duration(bucket)
	}
	shift := bucket/perPower - 1
	return time.Duration((uint64(bucket%perPower)+perPower+1)<<shift - 1)
}

// quantile returns an upper bound of the shortest duration that is not
// exceeded by so many of a thousand.
func (g *histogram) quantile(perMille int) time.Duration {
	rank := (g.total*perMille + 999) / 1000
	seen := 0
	for b, n := range g.buckets {
		if seen += n; n > 0 && seen >= rank {
			return min(upper(b), g.longest)
		}
	}
	return 0
}
