package report

import (
	"testing"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/scenarios"
)

// seen is a tally of ten runs, of which some violated a property and others left it undecided.
func seen(violated, open int) runner.Tally {
	t := runner.NewTally(scenarios.Scenario{})
	t.Runs = 10
	t.Seen[checker.Lease] = map[checker.Verdict]int{checker.Violated: violated, checker.Unknown: open, checker.Holds: 10 - violated - open}
	return t
}

func TestCourseOfASeries(t *testing.T) {
	for _, c := range []struct {
		tallies          []runner.Tally
		unordered        bool
		short, threshold string
	}{
		{[]runner.Tally{seen(0, 0), seen(0, 0), seen(0, 0)}, false, "V1 ✓ at all 3 values", "No value shows a violation of lease exclusion."},
		{[]runner.Tally{seen(1, 0), seen(9, 0), seen(10, 0)}, false, "V1 ✗ at all 3 values", "Every value shows violations of lease exclusion."},
		{[]runner.Tally{seen(0, 0), seen(2, 0), seen(9, 0)}, false, "V1 ✗ from B on", "Lease exclusion turns between A (0/10 of the runs, [0, 27.8]) and B (2/10 of the runs, [5.7, 51.0])."},
		{[]runner.Tally{seen(0, 3), seen(2, 0), seen(9, 0)}, false, "V1 ✗ from B on", "Lease exclusion turns between A (0/7 of the runs, [0, 35.4]) and B (2/10 of the runs, [5.7, 51.0]); undecided at A."},
		{[]runner.Tally{seen(3, 0), seen(2, 0), seen(0, 0)}, false, "V1 ✗ up to B", "Lease exclusion turns between B (2/10 of the runs, [5.7, 51.0]) and C (0/10 of the runs, [0, 27.8])."},
		{[]runner.Tally{seen(0, 0), seen(2, 0), seen(0, 0)}, false, "V1 ✗ at B only", "Lease exclusion breaks at B; no run shows it at the other 2."},
		{[]runner.Tally{seen(0, 0), seen(2, 0), seen(9, 0)}, true, "V1 ✗ at 2 of 3 values", "Lease exclusion breaks at B, C; no run shows it at the other 1."},
	} {
		curve := Curve{Series: scenarios.Series{Property: checker.Lease, Unordered: c.unordered}, Values: []string{"A", "B", "C"}, Tallies: c.tallies}
		if curve.Short() != c.short || curve.Threshold() != c.threshold {
			t.Errorf("got %q, %q, want %q, %q", curve.Short(), curve.Threshold(), c.short, c.threshold)
		}
	}
}
