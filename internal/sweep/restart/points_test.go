package restart_test

import (
	"testing"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/sweep/restart"
	"github.com/lockstorm/lockstorm/internal/sweeptest"
)

func TestSweepsCanBeRun(t *testing.T) {
	t.Parallel()
	sweeptest.Runnable(t, restart.Delay(), restart.Price(), restart.Reference(), restart.Boundaries())
}

// Every run of a reference point shows what is predicted, in the simulator too; but of
// those that lose power under aof-everysec one in fifty, in which a sync came in time.
func TestReferenceIsDecided(t *testing.T) {
	t.Parallel()
	s := restart.Reference()
	if len(s.Points) != 20 {
		t.Errorf("%d points, want 20", len(s.Points))
	}
	const runs = 10
	verdicts := map[checker.Verdict]int{}
	for i, p := range s.Points {
		tally := sweeptest.Measure(t, s, i, runs)
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

// The longer a majority stays away the longer nobody gets the lock; a minority costs next
// to nothing.
func TestPriceGrowsWithTheDelay(t *testing.T) {
	t.Parallel()
	const (
		runs  = 2
		slack = 0.1 // s, for who held the lock at the crash, and for the next try
	)
	s := restart.Price()
	measured := 0
	for i, p := range s.Points {
		away, nodes := p.At[0], p.At[1] // a TTL is a second
		if away != 0 && away != 0.5 && away != 1.5 {
			continue
		}
		measured++
		tally := sweeptest.Measure(t, s, i, runs)
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
