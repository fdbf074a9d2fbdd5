package main

import (
	"math"

	"github.com/lockstorm/lockstorm/internal/runner"
)

// fisher returns the probability of a difference between two rates that is at least as
// unlikely as this one, if both have the same probability behind them (Fisher's exact test,
// two-sided; R. A. Fisher, On the Interpretation of χ² from Contingency Tables, JRSS 85,
// 1922).
func fisher(a, b runner.Rate) float64 {
	k, n := a.K+b.K, a.N+b.N
	p := func(i int) float64 { return math.Exp(choose(a.N, i) + choose(b.N, k-i) - choose(n, k)) }
	seen, total := p(a.K), 0.0
	for i := max(0, k-b.N); i <= min(k, a.N); i++ {
		if p := p(i); p <= seen*(1+tie) {
			total += p
		}
	}
	return min(total, 1)
}

// tie is how much two equal probabilities may differ by rounding, for up to 10 million trials.
const tie = 1e-6

// choose returns the logarithm of the binomial coefficient.
func choose(n, k int) float64 {
	factorial := func(n int) float64 {
		l, _ := math.Lgamma(float64(n + 1))
		return l
	}
	return factorial(n) - factorial(k) - factorial(n-k)
}
