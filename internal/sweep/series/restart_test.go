package series_test

import (
	"testing"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/sweep/series"
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

// A holder that extends and reaches all nodes may notice the loss. So no more runs are
// violated than the formula says of one that does not, and at least as many as are left
// without these.
func TestHoldersNoticeTheLoss(t *testing.T) {
	t.Parallel()
	const told = 0.02 // of the time between two extensions
	s := series.RestartDelay()
	unhelped := map[float64]float64{}
	for _, p := range s.Points {
		if p.Curve == "extended, no persistence" {
			unhelped[p.At[0]] = *p.Predicted
		}
	}
	seen := 0
	for i, p := range s.Points {
		if p.Predicted != nil || i%thinning != 0 {
			continue
		}
		r := measure(t, s, i, perPoint).Rate(s.Property)
		lo, hi := r.Wilson()
		if most := unhelped[p.At[0]]; lo > most || hi < most-told {
			t.Errorf("%s at %v: %v violated, %.4f of those who are not told", p.Curve, p.At, r, most)
		}
		seen += r.K
	}
	if seen == 0 {
		t.Error("no violation at all where nothing is predicted: want some while nodes are back soon")
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

// The longer a majority stays away, the longer nobody gets the lock. A minority costs next to
// nothing.
func TestPriceGrowsWithTheDelay(t *testing.T) {
	t.Parallel()
	const (
		runs  = 2
		slack = 0.1 // s, for who held the lock at the crash, and for the next try
	)
	s := series.RestartDelayPrice()
	measured := 0
	for i, p := range s.Points {
		away, nodes := p.At[0], p.At[1] // a TTL is a second
		if away != 0 && away != 0.5 && away != 1.5 {
			continue
		}
		measured++
		tally := measure(t, s, i, runs)
		m := tally.Measured.All()
		want := 0.0
		if nodes >= 3 {
			want = away
		}
		if got := m.MedianOutage.Seconds(); got < want-slack || got > want+slack {
			t.Errorf("%s at %v: nobody gets the lock for %.3f s, want about %v", p.Curve, p.At, got, want)
		}
		if most := 1 - want/4; m.Availability > most || m.Availability < most-0.2 { // in four TTLs
			t.Errorf("%s at %v: the lock is available for %.3f, want somewhat less than %.3f", p.Curve, p.At, m.Availability, most)
		}
	}
	if measured != 15 {
		t.Errorf("%d points measured, want 15", measured)
	}
}
