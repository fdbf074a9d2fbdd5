package report

import (
	"fmt"
	"testing"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/scenarios"
)

func want(t *testing.T, what string, got, want any) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

// seen is a tally of ten runs, of which some violated a property and others left it undecided.
func seen(violated, open int) runner.Tally {
	t := runner.NewTally(scenarios.Scenario{})
	t.Runs = 10
	t.Seen[checker.Lease] = map[checker.Verdict]int{checker.Violated: violated, checker.Unknown: open, checker.Holds: 10 - violated - open}
	return t
}

func TestCourseOfASeries(t *testing.T) {
	cases := []struct {
		violated         []int
		short, threshold string
	}{
		{[]int{0, 0, 0}, "V1 ✓ at all 3 values", "No value shows a violation of lease exclusion."},
		{[]int{1, 9, 10}, "V1 ✗ at all 3 values", "Every value shows violations of lease exclusion."},
		{[]int{0, 2, 9}, "V1 ✗ from B on", "Lease exclusion turns between A (0/10 of the runs, [0, 27.8]) and B (2/10 of the runs, [5.7, 51.0])."},
		{[]int{3, 2, 0}, "V1 ✗ up to B", "Lease exclusion turns between B (2/10 of the runs, [5.7, 51.0]) and C (0/10 of the runs, [0, 27.8])."},
		{[]int{0, 2, 0}, "V1 ✗ at B only", "Lease exclusion breaks at B; no run shows it at the other 2."},
		{[]int{2, 0, 2}, "V1 ✗ at 2 of 3 values", "Lease exclusion breaks at A, C; no run shows it at the other 1."},
	}
	for _, c := range cases {
		curve := Curve{Series: scenarios.Series{Property: checker.Lease}, Values: []string{"A", "B", "C"}}
		for _, n := range c.violated {
			curve.Tallies = append(curve.Tallies, seen(n, 0))
		}
		want(t, fmt.Sprint(c.violated, " in short"), curve.Short(), c.short)
		want(t, fmt.Sprint(c.violated), curve.Threshold(), c.threshold)
	}
	open := Curve{Series: scenarios.Series{Property: checker.Lease}, Values: []string{"A", "B"}, Tallies: []runner.Tally{seen(0, 3), seen(2, 0)}}
	want(t, "open", open.Threshold(), "Lease exclusion turns between A (0/7 of the runs, [0, 35.4]) and B (2/10 of the runs, [5.7, 51.0]); undecided at A.")

	steps := Curve{
		Series: scenarios.Series{Property: checker.Lease, Unordered: true},
		Values: []string{"A", "B", "C"}, Tallies: []runner.Tally{seen(0, 0), seen(2, 0), seen(9, 0)},
	}
	want(t, "without an order, in short", steps.Short(), "V1 ✗ at 2 of 3 values")
	want(t, "without an order", steps.Threshold(), "Lease exclusion breaks at B, C; no run shows it at the other 1.")
}

// Every measure of a series can be shown.
func TestMeasuresAreShown(t *testing.T) {
	for _, s := range scenarios.AllSeries() {
		for _, m := range s.Measures {
			if figures[m].title == "" || figures[m].of == nil {
				t.Errorf("%s: measure %d", s.Name, m)
			}
		}
	}
}
