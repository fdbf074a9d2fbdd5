package restart_test

import (
	"testing"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/storm"
	"github.com/lockstorm/lockstorm/storm/simulated"
	"github.com/lockstorm/lockstorm/sweep"
	"github.com/lockstorm/lockstorm/sweep/restart"
)

// Every point can be run, has a name of its own and a value of every parameter, and is
// predicted a probability if anything.
func TestPointsCanBeRun(t *testing.T) {
	t.Parallel()
	names := map[string]bool{}
	for _, s := range []sweep.Sweep{restart.Delay(), restart.Price(), restart.Reference()} {
		for _, p := range s.Points {
			if _, err := storm.Prepare(simulated.Backend(), p.Scenario); err != nil {
				t.Errorf("%s: %s: %v", s.Name, p.Scenario.Name, err)
			}
			if names[p.Scenario.Name] {
				t.Errorf("%s: there are two %s", s.Name, p.Scenario.Name)
			}
			names[p.Scenario.Name] = true
			if len(p.At) != len(s.Params) {
				t.Errorf("%s: %s has %d values for %d parameters", s.Name, p.Scenario.Name, len(p.At), len(s.Params))
			}
			if q := p.Predicted; q != nil && (*q < 0 || *q > 1) {
				t.Errorf("%s: %s: %v is no probability", s.Name, p.Scenario.Name, *q)
			}
		}
	}
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
		r := measure(t, s, i, runs)
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
	available := map[[2]float64]float64{}
	outage := map[[2]float64]float64{}
	for _, p := range restart.Price().Points {
		if p.At[0] != 0 && p.At[0] != 0.5 && p.At[0] != 1.5 {
			continue
		}
		e, err := storm.Prepare(simulated.Backend(), p.Scenario)
		if err != nil {
			t.Fatal(err)
		}
		tally, err := storm.Batch{Experiment: e, First: 1, Runs: 2}.Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		m := tally.Measured.All()
		available[[2]float64(p.At)], outage[[2]float64(p.At)] = m.Availability, m.MedianOutage.Seconds()
	}
	for k := 1.0; k <= 5; k++ {
		none, half, most := outage[[2]float64{0, k}], outage[[2]float64{0.5, k}], outage[[2]float64{1.5, k}]
		t.Logf("%.0f crash: outage %.3f, %.3f, %.3f s; available %.3f, %.3f, %.3f", k, none, half, most,
			available[[2]float64{0, k}], available[[2]float64{0.5, k}], available[[2]float64{1.5, k}])
		if k < 3 && most > 0.2 {
			t.Errorf("%.0f nodes of 5 are away for 1.5 s, and nobody gets the lock for %.3f s", k, most)
		}
		if k >= 3 && (half < 0.5-0.05 || half > 0.5+0.1 || most < 1.5-0.05 || most > 1.5+0.1 || none > 0.2) {
			t.Errorf("%.0f nodes of 5 are away for 0, 0.5 and 1.5 s, and nobody gets the lock for %.3f, %.3f and %.3f s", k, none, half, most)
		}
	}
}
