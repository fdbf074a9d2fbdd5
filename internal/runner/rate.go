package runner

import (
	"fmt"
	"math"
)

// Rate is how often something was seen: K times out of N, 0 ≤ K ≤ N.
type Rate struct{ K, N int }

// z is the quantile of the normal distribution that leaves 2.5 % on either side.
const z = 1.959963984540054

// Wilson returns the 95 % score interval of the probability behind the rate
// (Wilson, Probable Inference, the Law of Succession, and Statistical Inference,
// JASA 22, 1927; without a correction for continuity). Unlike the textbook's it
// is of use for rates of 0 and 1. Of no trials it is all of [0, 1].
func (r Rate) Wilson() (lo, hi float64) {
	if r.N == 0 {
		return 0, 1
	}
	n, p := float64(r.N), r.Share()
	middle := p + z*z/(2*n)
	half := z * math.Sqrt(p*(1-p)/n+z*z/(4*n*n))
	lo, hi = (middle-half)/(1+z*z/n), (middle+half)/(1+z*z/n)
	if r.K == 0 {
		lo = 0 // exactly
	}
	if r.K == r.N {
		hi = 1
	}
	return lo, hi
}

// Share returns K/N, or 0 of no trials.
func (r Rate) Share() float64 {
	if r.N == 0 {
		return 0
	}
	return float64(r.K) / float64(r.N)
}

// Plus returns the rate of both together.
func (r Rate) Plus(s Rate) Rate { return Rate{r.K + s.K, r.N + s.N} }

// String prints as in "3/100".
func (r Rate) String() string { return fmt.Sprintf("%d/%d", r.K, r.N) }

// Interval prints the interval in percent, as in "[1.0, 8.5]".
func (r Rate) Interval() string {
	lo, hi := r.Wilson()
	return fmt.Sprintf("[%s, %s]", percent(lo), percent(hi))
}

// Percent prints the share in percent, as in "3.0 %".
func (r Rate) Percent() string { return percent(r.Share()) + " %" }

// PerMillion prints the rate and its interval per million, as in "30000 [10255,
// 84519]".
func (r Rate) PerMillion() string {
	lo, hi := r.Wilson()
	return fmt.Sprintf("%.0f [%.0f, %.0f]", 1e6*r.Share(), 1e6*lo, 1e6*hi)
}

// percent prints a share to a tenth of a percent, small ones to two digits.
func percent(share float64) string {
	switch {
	case share == 0 || share == 1:
		return fmt.Sprintf("%.0f", 100*share)
	case share < 0.001:
		return fmt.Sprintf("%.2g", 100*share)
	}
	return fmt.Sprintf("%.1f", 100*share)
}
