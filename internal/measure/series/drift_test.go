package series_test

import (
	"testing"

	"github.com/lockstorm/lockstorm/internal/measure/series"
)

// needed returns the least allowance that covers the error of a curve's clocks.
func needed(t *testing.T, curve string, wrong float64) float64 {
	t.Helper()
	switch curve {
	case "the holder's clock is slow":
		return series.NeededAllowance(0, wrong)
	case "the nodes' clocks are fast":
		return series.NeededAllowance(wrong, 0)
	case "the nodes' clocks are fast and the holder's is slow, by as much":
		return series.NeededAllowance(wrong, wrong)
	case "the nodes' clocks step forward":
		return series.NeededForStep(wrong)
	}
	t.Fatalf("unknown curve %q", curve)
	return 0
}

// On the covered side of the line no run violates exclusion, and farther than the reach beyond
// it every run does.
func TestMapFollowsTheLine(t *testing.T) {
	t.Parallel()
	const runs = 4
	var covered, beyond int
	s := series.Drift()
	for i, p := range s.Points {
		line := needed(t, p.Curve, p.At[0])
		if p.At[1] < line && p.At[1] > line-series.DriftReach*1.15 { // a fast clock counts more of a reach
			continue
		}
		r, want := measure(t, s, i, runs).Rate(s.Property), 0
		if p.At[1] < line {
			want = runs
			beyond++
		} else {
			covered++
		}
		if r.K != want {
			t.Errorf("%s at %v: %v violated, want %d, for an allowance of %.4f is needed", p.Curve, p.At, r, want, line)
		}
		if float64(want/runs) != *p.Predicted {
			t.Errorf("%s at %v: %.4f is predicted, want %d", p.Curve, p.At, *p.Predicted, want/runs)
		}
	}
	if covered < 100 || beyond < 100 {
		t.Errorf("%d points are covered and %d are beyond, want 100 of each", covered, beyond)
	}
}

// Near the line at least nine of ten Wilson intervals contain the prediction. Before the line
// it is 0, and 0.4 % beyond it 1.
func TestEdgeFollowsItsFormula(t *testing.T) {
	t.Parallel()
	s := series.DriftEdge()
	inside, uncertain := 0, 0
	for i, p := range s.Points {
		r := measure(t, s, i, 60).Rate(s.Property)
		lo, hi := r.Wilson()
		if lo <= *p.Predicted && *p.Predicted <= hi {
			inside++
		} else {
			t.Logf("%s at %v: %v violated, %.4f to %.4f, predicted %.4f", p.Curve, p.At, r, lo, hi, *p.Predicted)
		}
		if q := *p.Predicted; q > 0 && q < 1 {
			uncertain++
		}
		if p.At[1] >= needed(t, p.Curve, p.At[0]) && r.K > 0 {
			t.Errorf("%s at %v: %v violated, and the allowance is enough", p.Curve, p.At, r)
		}
	}
	t.Logf("%d of %d intervals contain what is predicted, %d of which is neither 0 nor 1", inside, len(s.Points), uncertain)
	if uncertain < 20 || 10*inside < 9*len(s.Points) {
		t.Errorf("%d of %d intervals contain what is predicted, %d of which is neither 0 nor 1: want nine of ten, and 20", inside, len(s.Points), uncertain)
	}
}
