package series_test

import (
	"testing"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/measure/series"
	"github.com/lockstorm/lockstorm/internal/runner"
)

// One of thinning points is measured, with perPoint runs. All of them, with thousands of runs, are in
// results/reference.
const thinning, perPoint = 11, 40

// At least nine of ten Wilson intervals contain the prediction, and no curve follows another's
// formula.
func TestDelaysFollowTheirFormulas(t *testing.T) {
	t.Parallel()
	s := series.RestartDelay()
	type score struct{ inside, of int }
	curves, all := map[string]score{}, score{}
	for i, p := range s.Points {
		if p.Predicted == nil || i%thinning != 0 {
			continue
		}
		r := measure(t, s, i, perPoint).Rate(s.Property)
		lo, hi := r.Wilson()
		c := curves[p.Curve]
		c.of, all.of = c.of+1, all.of+1
		if lo <= *p.Predicted && *p.Predicted <= hi {
			c.inside, all.inside = c.inside+1, all.inside+1
		} else {
			t.Logf("%s at %v: %v violated, %.4f to %.4f, predicted %.4f", p.Curve, p.At, r, lo, hi, *p.Predicted)
		}
		curves[p.Curve] = c
	}
	for name, c := range curves {
		t.Logf("%-40s %d of %d", name, c.inside, c.of)
		if 2*c.inside < c.of {
			t.Errorf("%s: only %d of %d intervals contain what is predicted", name, c.inside, c.of)
		}
	}
	if all.of < 30 || 10*all.inside < 9*all.of {
		t.Errorf("%d of %d intervals contain what is predicted, want nine of ten and at least 30", all.inside, all.of)
	}
}

func TestSweepsCanBeRun(t *testing.T) {
	t.Parallel()
	runnable(t, series.RestartDelay(), series.RestartDelayPrice(), series.RestartDelayReference(), series.RestartBoundary(), series.Drift(), series.DriftEdge())
}

// Every run of a reference point shows the prediction, in the simulator too, except one in
// fifty of those that lose power under aof-everysec, in which a sync came in time.
func TestReferenceIsDecided(t *testing.T) {
	t.Parallel()
	s := series.RestartDelayReference()
	if len(s.Points) != 20 {
		t.Errorf("%d points, want 20", len(s.Points))
	}
	const runs = 10
	verdicts := map[checker.Verdict]int{}
	for i, p := range s.Points {
		tally := measure(t, s, i, runs)
		if tally.Conclusion() != runner.AsExpected {
			t.Errorf("%s: %v", p.Scenario.Name, tally.Conclusion())
		}
		r := tally.Rate(s.Property)
		want := int(*p.Predicted) * runs
		if r.N != runs || r.K > want || want-r.K > 2 || want > r.K && p.Curve != "plain, aof-everysec, loss of power" {
			t.Errorf("%s: %v violated, want %d", p.Scenario.Name, r, want)
		}
		verdicts[p.Scenario.Expect[checker.Lease]]++
	}
	if verdicts[checker.Holds] < 5 || verdicts[checker.Violated] < 5 {
		t.Errorf("expected are %v: want both verdicts", verdicts)
	}
}
