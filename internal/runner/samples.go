package runner

import (
	"math"
	"slices"
)

// samples are the values of a figure that is a median, of which each run has at most one.
type samples []int64

// median returns the median, of two middle values the lower; 0 without values.
func (s samples) median() int64 {
	if len(s) == 0 {
		return 0
	}
	return slices.Sorted(slices.Values(s))[(len(s)-1)/2]
}

// interval returns the distribution-free 95 % interval of the median: the order statistics
// between which it lies with that probability, by the binomial distribution (David and Nagaraja,
// Order Statistics, 2003, section 7.1). Less than six values have none.
func (s samples) interval() (low, high float64, known bool) {
	n := len(s)
	rank := medianRank(n)
	if rank == 0 {
		return 0, 0, false
	}
	sorted := slices.Sorted(slices.Values(s))
	return float64(sorted[rank-1]), float64(sorted[n-rank]), true
}

// medianRank returns the rank of the lower end of the interval among n values; 0: there is none.
func medianRank(n int) (rank int) {
	if n > 1000 { // 2^-n vanishes, and the normal distribution is close enough
		return int(float64(n)/2 - z*math.Sqrt(float64(n))/2)
	}
	for tail, term := 0.0, math.Pow(0.5, float64(n)); rank < n/2; rank++ {
		if tail += term; tail > 0.025 {
			break
		}
		term *= float64(n-rank) / float64(rank+1)
	}
	return rank
}
