package series_test

import (
	"path/filepath"
	"testing"

	"github.com/lockstorm/lockstorm/internal/measure/series"
	"github.com/lockstorm/lockstorm/internal/measure/sweep"
	"github.com/lockstorm/lockstorm/internal/runner/simulated"
)

// The stored measurements are of these sweeps as they are now.
func TestStoredMeasurementsAreCurrent(t *testing.T) {
	for _, s := range series.All {
		stored, err := sweep.Load(filepath.Join("../../../results/reference", s.Name))
		if err != nil {
			t.Fatal(err)
		}
		now, err := sweep.Measurement{Sweep: s.Make(), Backend: simulated.Backend(), Runs: stored.Runs}.Head()
		if err != nil || now.Contents != stored.Contents {
			t.Errorf("%s: other points than those that were measured, %v", s.Name, err)
		}
	}
}
