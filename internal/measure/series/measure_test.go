package series_test

import (
	"testing"

	"github.com/lockstorm/lockstorm/internal/measure/sweep"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/runner/simulated"
)

// measure runs the point with index i in the simulator. Points share no seeds, so that their
// errors are independent.
func measure(t *testing.T, s sweep.Sweep, i, runs int) runner.Tally {
	t.Helper()
	p := s.Points[i]
	e, err := runner.Prepare(simulated.Backend(), p.Scenario)
	if err != nil {
		t.Fatalf("%s: %v", p.Scenario.Name, err)
	}
	tally, err := runner.Batch{Experiment: e, First: uint64(1 + i*runs), Runs: runs}.Run(t.Context())
	if err != nil {
		t.Fatalf("%s: %v", p.Scenario.Name, err)
	}
	return tally
}

// runnable checks that every point, and every boundary at its ends, can be run in the
// simulator, and that no name of a scenario repeats, since points are run by name.
func runnable(t *testing.T, sweeps ...sweep.Sweep) {
	t.Helper()
	names := map[string]bool{}
	for _, s := range sweeps {
		if err := (sweep.Measurement{Sweep: s, Backend: simulated.Backend(), Runs: 1, SideBySide: 1}).Validate(); err != nil {
			t.Errorf("%s: %v", s.Name, err)
		}
		for _, p := range s.Points {
			if names[p.Scenario.Name] {
				t.Errorf("%s: there are two %s", s.Name, p.Scenario.Name)
			}
			names[p.Scenario.Name] = true
		}
	}
}
