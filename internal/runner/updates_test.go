package runner_test

import (
	"testing"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/scenarios"
)

// Law: in no run of the debate effect exclusion holds although the applies show a lost update.
func TestLostUpdatesAreViolations(t *testing.T) {
	lost := 0
	for _, s := range scenarios.Every() {
		e := prepared(t, simulator, s)
		for seed := range uint64(4) {
			result, err := e.Run(t.Context(), seed+1, nil)
			if err != nil {
				t.Fatal(err)
			}
			n := result.Report.Measurements.LostUpdates
			if f := result.Report.Finding(checker.Effect); n != 0 && f.Verdict == checker.Holds {
				t.Errorf("%s, seed %d: %d updates are lost, and effect exclusion holds", s.Name, seed+1, n)
			}
			lost += n
		}
	}
	if lost < 20 {
		t.Errorf("only %d updates are lost", lost)
	}
}
