package tune

import (
	"math"
	"time"
)

// leastDrift is the drift factor that the algorithm's page uses. Where clocks need less it
// costs a hundredth of the TTL, and covers clocks that are worse than was thought.
const leastDrift = 0.01

// rho is the bound of the rate as a share.
func (c Clocks) rho() float64 { return float64(c.RatePPM) / 1e6 }

// NeededAllowance is the least that a lock has to set aside of a TTL, for a holder whose clock
// is slow, nodes whose clocks are fast, and steps forward of theirs: all of it, if a step
// takes it all.
func (c Clocks) NeededAllowance(ttl time.Duration) time.Duration {
	left, rho := float64(max(0, ttl-c.LargestStep)), c.rho() // of the TTL, after the step
	return time.Duration(math.Ceil(float64(ttl) - left*(1-rho)/(1+rho)))
}

// DriftFactor is the recommended drift factor for a TTL: enough for [Clocks.NeededAllowance]
// without the 2 ms beside it, in whole thousandths, at least 0.01.
func (c Clocks) DriftFactor(ttl time.Duration) float64 {
	needed := float64(c.NeededAllowance(ttl)) / float64(ttl)
	return max(leastDrift, math.Ceil(needed*1000-1e-9)/1000)
}

// NeededRestartDelay is the least that a node without its keys has to stay away, from the
// crash on, by the clock that counts it: with an allowance and the longest TTL.
func (c Clocks) NeededRestartDelay(ttl, allowance time.Duration) time.Duration {
	rho := c.rho()
	return time.Duration(math.Ceil((1+rho)*float64(ttl-allowance)/(1-rho))) + c.LargestStep
}

// RestartDelay is the recommended restart delay: TTL × (1 + ρ), and a step more, in whole
// milliseconds.
func (c Clocks) RestartDelay(ttl time.Duration) time.Duration {
	return roundUp(time.Duration(math.Ceil(float64(ttl)*(1+c.rho())))+c.LargestStep, time.Millisecond)
}

func roundUp(d, unit time.Duration) time.Duration { return (d + unit - 1) / unit * unit }
