package sim

import (
	"math"
	"math/bits"
)

const million = 1_000_000

// clock shows a time that runs straight from one point: at ground time ground
// it showed shown, and since then it has run ppm parts per million too fast.
type clock struct {
	ground, shown int64 // ns
	ppm           int64 // above -million
}

// at returns what the clock shows at a ground time not before its point.
func (c *clock) at(ground int64) int64 {
	d := ground - c.ground
	if c.ppm == 0 {
		return c.shown + d
	}
	return c.shown + d + scale(d, c.ppm)
}

// scale returns floor(d × ppm / million) for d ≥ 0, without overflow for runs
// of up to 290 years.
func scale(d, ppm int64) int64 {
	whole, rest := d/million, d%million
	part := rest * ppm
	if part < 0 {
		part -= million - 1
	}
	return whole*ppm + part/million
}

// when returns the first ground time at which the clock, as it runs now, shows
// at least shown; the point itself if that has passed.
func (c *clock) when(shown int64) int64 {
	need := shown - c.shown
	if need <= 0 {
		return c.ground
	}
	if c.ppm == 0 {
		if c.ground > math.MaxInt64-need {
			return math.MaxInt64
		}
		return c.ground + need
	}
	hi, lo := bits.Mul64(uint64(need), million)
	rate := uint64(million + c.ppm)
	if hi >= rate {
		return math.MaxInt64
	}
	d, _ := bits.Div64(hi, lo, rate)
	if d > uint64(math.MaxInt64-c.ground)/2 {
		return math.MaxInt64
	}
	ground := c.ground + int64(d)
	for c.at(ground) < shown {
		ground++
	}
	return ground
}

// run changes the rate from now on.
func (c *clock) run(now, ppm int64) {
	*c = clock{ground: now, shown: c.at(now), ppm: ppm}
}

// jump steps the clock.
func (c *clock) jump(now, by int64) {
	*c = clock{ground: now, shown: c.at(now) + by, ppm: c.ppm}
}
