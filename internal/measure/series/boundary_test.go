package series_test

import (
	"math"
	"testing"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/measure/series"
	"github.com/lockstorm/lockstorm/internal/measure/sweep"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/runner/simulated"
)

// violated runs a boundary's scenario at x. Nothing in it is random that matters.
func violated(t *testing.T, b sweep.Boundary, x float64) bool {
	t.Helper()
	s := b.Scenario(x)
	e, err := runner.Prepare(simulated.Backend(), s)
	if err != nil {
		t.Fatalf("%s: %v", s.Name, err)
	}
	r, err := e.Run(t.Context(), 1, nil)
	if err != nil {
		t.Fatalf("%s: %v", s.Name, err)
	}
	return r.Report.Finding(checker.Lease).Verdict == checker.Violated
}

// located returns where a boundary is, to half of Within.
func located(t *testing.T, b sweep.Boundary) float64 {
	t.Helper()
	low, high := b.Low, b.High
	if !violated(t, b, low) || violated(t, b, high) {
		t.Fatalf("%s at %v: want exclusion violated at %v and not at %v", b.Curve, b.At, low, high)
	}
	for high-low > b.Within {
		if x := (low + high) / 2; violated(t, b, x) {
			low = x
		} else {
			high = x
		}
	}
	return (low + high) / 2
}

// A restart becomes safe where the formula says, to 0.1 % of the longest TTL, for all clocks
// and allowances. A rule of thumb is safe if and only if it is not below that.
func TestBoundariesAreWhereTheFormulaSays(t *testing.T) {
	t.Parallel()
	fails := map[string]int{}
	for _, b := range series.RestartBoundary().Boundaries {
		if got := located(t, b); math.Abs(got-b.Predicted) > b.Within {
			t.Errorf("%s at %v: exclusion turns at %.4f of the TTL, want %.4f", b.Curve, b.At, got, b.Predicted)
		}
		for rule, x := range b.Rules {
			unsafe := violated(t, b, x)
			if unsafe != (x < b.Predicted) {
				t.Errorf("%s at %v: %s is %.4f, violated: %v, with the boundary at %.4f", b.Curve, b.At, rule, x, unsafe, b.Predicted)
			}
			if unsafe {
				fails[rule]++
			}
		}
	}
	if fails[series.ExactRule] > 0 || fails[series.ByRestart] == 0 || fails[series.ByDrift] == 0 {
		t.Errorf("rules fail at %v of the grid: want the exact one nowhere, and either rule of thumb somewhere", fails)
	}
	t.Logf("rules fail at: %v of %d", fails, len(series.RestartBoundary().Boundaries))
}
