package explore

import (
	"path/filepath"
	"testing"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/runner"
	"github.com/lockstorm/lockstorm/internal/runner/simulated"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

func loaded(t *testing.T, name string) scenarios.Scenario {
	t.Helper()
	s, err := scenarios.Load(filepath.Join("testdata", name), func(s scenarios.Scenario) error {
		_, err := runner.Prepare(simulated.Backend(), s)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// When a node syncs its disk decides whether a loss of power takes a key: some plain runs violate lease
// exclusion, so the exploration finds one that does.
func TestPhaseOfTheSyncIsAChoice(t *testing.T) {
	s := loaded(t, "everysec-phase.yaml")
	b := Bounds{Latencies: DefaultLatencies, Draws: DefaultDraws, Deviations: 1, Faults: 2}
	o, err := Explore(t.Context(), s, b, Limits{}, []checker.Property{checker.Lease}, nil)
	if err != nil || o.Verdict() != Violated || !o.Complete {
		t.Fatalf("%v, complete: %t, %v", o.Verdict(), o.Complete, err)
	}
	const want = "node 2 loses its last change"
	if all := o.Find().Result.Deviations; len(all) != 1 || all[0] != want {
		t.Errorf("%v, want %s", all, want)
	}
}

// A run in which an added fault begins while one of the plan still holds its target is left out, and the
// others are made.
func TestOverlappingFaultsAreLeftOut(t *testing.T) {
	s := loaded(t, "add-partition.yaml")
	b := Bounds{Latencies: DefaultLatencies, Draws: DefaultDraws, Faults: 1, Kinds: []nemesis.Kind{"partition"}, Added: 1}
	o, err := Explore(t.Context(), s, b, Limits{}, []checker.Property{checker.Lease}, nil)
	if err != nil || !o.Complete || o.Overlapping == 0 || o.Executions == 0 {
		t.Errorf("complete: %t, %+v, %v", o.Complete, o.Tally, err)
	}
}
