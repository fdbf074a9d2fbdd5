package sweep_test

import (
	"slices"
	"testing"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/measure/sweep"
	"github.com/lockstorm/lockstorm/scenarios"
)

// located searches one boundary.
func located(t *testing.T, runs int, b sweep.Boundary) sweep.Located {
	t.Helper()
	c := measurement()
	c.Runs, c.Sweep.Points, c.Sweep.Boundaries = runs, nil, []sweep.Boundary{b}
	b.At = []float64{1}
	c.Sweep.Boundaries[0].At = b.At
	return *run(t.Context(), t, c, t.TempDir()).Outcomes[0].Boundary
}

// planted returns scenarios that violate the property below a threshold and hold above it,
// whatever the seed.
func planted(threshold float64) func(x float64) scenarios.Scenario {
	return func(x float64) scenarios.Scenario {
		if x < threshold {
			return away(0.1)
		}
		return away(1.2)
	}
}

// Law: the bracket of a planted threshold contains it, and is as narrow as requested; the
// formula is met only if it is that close.
func TestPlantedThresholdIsFound(t *testing.T) {
	for _, threshold := range []float64{0.5001, 0.77, 1, 1.29} {
		for off, met := range map[float64]bool{0: true, 0.02: false, -0.02: false} {
			l := located(t, 2, sweep.Boundary{
				Scenario: planted(threshold), Low: 0.5, High: 1.3, Within: 0.01, Predicted: threshold + off,
				Rules: map[string]float64{"more": threshold + 0.3, "less": threshold - 0.3},
			})
			if l.LastViolated == nil || l.FirstHolding == nil {
				t.Fatalf("threshold %v: not found: %+v", threshold, l)
			}
			if lo, hi := *l.LastViolated, *l.FirstHolding; !(lo < threshold && threshold <= hi) || hi-lo > 0.01 || !l.Bracketed() {
				t.Errorf("threshold %v: it is in [%v, %v]", threshold, lo, hi)
			}
			if l.Met() != met || l.Open() {
				t.Errorf("threshold %v, predicted %v: met %t, open %t", threshold, threshold+off, l.Met(), l.Open())
			}
			verdicts := []checker.Verdict{l.Rules[0].Verdict, l.Rules[1].Verdict}
			if names := []string{l.Rules[0].Name, l.Rules[1].Name}; !slices.Equal(names, []string{"less", "more"}) ||
				!slices.Equal(verdicts, []checker.Verdict{checker.Violated, checker.Holds}) {
				t.Errorf("threshold %v: the rules %v are %v", threshold, names, verdicts)
			}
		}
	}
}

// If a boundary lies outside the search interval, one side is missing.
func TestThresholdOutsideTheSearch(t *testing.T) {
	below := located(t, 2, sweep.Boundary{Scenario: planted(0.1), Low: 0.5, High: 1.3, Within: 0.01, Predicted: 0.5})
	if below.LastViolated != nil || below.FirstHolding == nil || *below.FirstHolding != 0.5 || below.Met() || len(below.Search) != 1 {
		t.Errorf("below: %+v", below)
	}
	above := located(t, 2, sweep.Boundary{Scenario: planted(2), Low: 0.5, High: 1.3, Within: 0.01, Predicted: 1.3})
	if above.FirstHolding != nil || above.LastViolated == nil || *above.LastViolated != 1.3 || above.Met() || len(above.Search) != 2 {
		t.Errorf("above: %+v", above)
	}
}

// The search also ends if no number is left in between.
func TestSearchToTheLastBit(t *testing.T) {
	l := located(t, 1, sweep.Boundary{Scenario: planted(1), Low: 0.999999999999999, High: 1, Within: 1e-30, Predicted: 1})
	if l.Bracketed() || l.LastViolated == nil || *l.LastViolated >= 1 || *l.FirstHolding != 1 {
		t.Errorf("%+v", l)
	}
}

// An unknown verdict ends the search.
func TestUnknownVerdictEndsTheSearch(t *testing.T) {
	silent := func(x float64) scenarios.Scenario {
		s := away(1.2)
		s.Clients = s.Clients[:1] // a lock that nobody else wants
		s.Horizon, s.Plan = s.Lock.TTL/1000, nil
		return s
	}
	l := located(t, 2, sweep.Boundary{
		Scenario: func(x float64) scenarios.Scenario {
			if x > 1.2 {
				return silent(x)
			}
			return away(0.1)
		}, Low: 0.5, High: 1.3, Within: 0.01, Predicted: 1,
	})
	if v := l.Search[len(l.Search)-1].Verdict; v == checker.Holds || v == checker.Violated {
		t.Fatalf("this test is about a verdict that is none: %v", v)
	}
	if !l.Open() || l.FirstHolding != nil || l.Met() || len(l.Search) != 2 {
		t.Errorf("%+v", l)
	}
}
