package world

import (
	"math"
	"math/bits"
	"slices"
)

const million = 1_000_000

// Clock is one of a machine's clocks. All its times are in nanoseconds. It runs
// straight from one point: at ground time ground it showed shown, and since then it
// has run ppm parts per million too fast. The zero value is a true clock that shows
// ground time.
type Clock struct {
	ground, shown int64 // ns
	ppm           int64 // -million, at which it stands still, or more

	// ppm is the sum of the rate faults, but no clock runs backward and a stopped one
	// stands still.
	rate    int64
	stopped bool
	missed  int64 // ns that a stopped clock has missed, up to its point

	past []Line // how it ran before its point, at most maxPast lines, the last one last; copies share it
}

// maxPast bounds the memory of a clock that is changed without end.
const maxPast = 64

// ClockShowing returns a true clock that shows a time at ground time 0.
func ClockShowing(shown int64) Clock { return Clock{shown: shown} }

// Line is how a clock runs until it is changed: at ground time Ground it showed Shown,
// and since then it has run PPM parts per million too fast.
type Line struct{ Ground, Shown, PPM int64 }

// Line returns how the clock runs.
func (c *Clock) Line() Line { return Line{c.ground, c.shown, c.ppm} }

// ClockAlong returns a clock that runs along the line, for readers.
func ClockAlong(l Line) Clock { return Clock{ground: l.Ground, shown: l.Shown, ppm: l.PPM} }

// At returns what the clock shows at a ground time not before its last change.
func (c *Clock) At(ground int64) int64 {
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

// When returns the first ground time at which the clock, as it runs now, shows
// at least shown: that of its last change if that has passed, and [math.MaxInt64] if
// it never does.
func (c *Clock) When(shown int64) int64 {
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
	for c.At(ground) < shown {
		ground++
	}
	return ground
}

// Reached returns when the clock, as it runs now, shows at least shown as [Clock.When] does, or, if it does
// since before its last change, since when: the ground time from which on it never showed less. Of changes
// that are more than maxPast ago only that it is before them is known.
func (c *Clock) Reached(shown int64) int64 {
	since := c.When(shown)
	if since > c.ground {
		return since
	}
	for _, l := range slices.Backward(c.past) {
		before := ClockAlong(l)
		if before.At(since) < shown { // it jumped past shown
			break
		}
		if since = before.When(shown); since > l.Ground {
			break
		}
	}
	return since
}

// Jump steps the clock.
func (c *Clock) Jump(now, by int64) {
	c.settle(now)
	c.shown += by
}

// ChangeRate makes the clock run ppm parts per million faster than before from now
// on; below 0: slower. The opposite change takes it back.
func (c *Clock) ChangeRate(now, ppm int64) {
	c.settle(now)
	c.rate += ppm
	c.ppm = c.pace()
}

// Stop stops the clock.
func (c *Clock) Stop(now int64) {
	c.settle(now)
	c.stopped, c.ppm = true, -million
}

// Start starts a stopped clock again from the time that it shows.
func (c *Clock) Start(now int64) {
	c.settle(now)
	c.stopped, c.missed = false, 0
	c.ppm = c.pace()
}

// Behind returns how much time a stopped clock has missed.
func (c *Clock) Behind(now int64) int64 {
	c.settle(now)
	return c.missed
}

// Pace returns how many parts per million the clock runs too fast: -1,000,000 if it is
// stopped.
func (c *Clock) Pace() int64 { return c.ppm }

// settle moves the clock's point to now.
func (c *Clock) settle(now int64) {
	d := now - c.ground
	if d > 0 {
		c.past = append(slices.Clone(c.past[max(0, len(c.past)-maxPast+1):]), c.Line())
	}
	c.ground, c.shown = now, c.At(now)
	if c.stopped {
		c.missed += d + scale(d, max(c.rate, -million))
	}
}

// pace computes the rate of the clock from all faults.
func (c *Clock) pace() int64 {
	if c.stopped {
		return -million
	}
	return max(c.rate, -million)
}
