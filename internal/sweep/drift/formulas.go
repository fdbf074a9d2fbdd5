package drift

import "time"

// Covering returns the least allowance, as a share of the TTL, that covers nodes whose
// clocks are so fast and a holder whose clock is so slow, 0.01 being 1 %:
//
//	(fast + slow)/(1 + fast)
//
// A validity ends (ttl − allowance)/(1 − slow) after the request for it, and no key
// expires sooner than ttl/(1 + fast) after it.
func Covering(fast, slow float64) float64 { return (fast + slow) / (1 + fast) }

// CoveringStep returns the least allowance, as a share of the TTL, that covers a step
// forward of the nodes' clocks within a lease, as a share of the TTL: as much. Of several
// steps in one lease it is their sum.
func CoveringStep(by float64) float64 { return max(by, 0) }

// Overlap returns how long a holder believes in its lease beyond the end of its keys,
// counted from when each was asked for; below 0 the allowance covers what clocks do.
// by is a step forward of the nodes' clocks while the lease lives.
func Overlap(ttl, allowance time.Duration, fast, slow float64, by time.Duration) time.Duration {
	ends := float64(ttl-allowance) / (1 - slow)
	expires := float64(ttl-by) / (1 + fast)
	return time.Duration(ends - expires)
}

// Granted returns the probability that a rival is granted the lock within an overlap: the
// request for the key had taken way to the nodes, and the rival's reply takes as long;
// the key lives on for up to grain, the unit of expiry, and the rival asks within step of
// its end. Both are uniform, and what is left of the overlap has to be more than their sum.
func Granted(overlap, way, grain, step time.Duration) float64 {
	x, a, b := (overlap - 2*way).Seconds(), grain.Seconds(), step.Seconds()
	switch {
	case x <= 0:
		return 0
	case x >= a+b:
		return 1
	}
	square := func(x float64) float64 { return max(x, 0) * max(x, 0) }
	// Near a+b the difference of squares is rounded, to a little over 1.
	return min((square(x)-square(x-a)-square(x-b))/(2*a*b), 1)
}
