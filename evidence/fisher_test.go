package main

import (
	"math"
	"testing"

	"github.com/lockstorm/lockstorm/internal/runner"
)

// The probabilities are those of fisher.test in R.
func TestFisher(t *testing.T) {
	for _, c := range []struct {
		a, b runner.Rate
		want float64
	}{
		{runner.Rate{K: 0, N: 3}, runner.Rate{K: 50, N: 50}, 4.269e-05},
		{runner.Rate{K: 3, N: 3}, runner.Rate{K: 0, N: 50}, 4.269e-05},
		{runner.Rate{K: 1, N: 10}, runner.Rate{K: 11, N: 14}, 0.002759},
		{runner.Rate{K: 2, N: 4}, runner.Rate{K: 25, N: 50}, 1},
	} {
		if got := fisher(c.a, c.b); math.Abs(got-c.want) > 1e-3*c.want {
			t.Errorf("%v and %v: %g, want %g", c.a, c.b, got, c.want)
		}
	}
}
