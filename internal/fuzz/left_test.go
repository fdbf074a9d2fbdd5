package fuzz_test

import (
	"slices"
	"testing"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/fuzz"
	"github.com/lockstorm/lockstorm/scenarios"
)

// What a row leaves of what makes the lease exclude is what it is about.
func TestWhatIsLeftIsNamed(t *testing.T) {
	for row, want := range map[string][]string{
		"calm":            nil,
		"crash-restart":   {"restart_delay"},
		"evicted-key":     {"without"},
		"node-clock-jump": {"node_clock_step"},
		"client-suspend":  {"clock_goes_on"},
	} {
		s, err := scenarios.Find(row)
		if err != nil {
			t.Fatal(err)
		}
		if got := fuzz.PromisedTerms(s)[checker.Lease].Left(s); !slices.Equal(got, want) {
			t.Errorf("%s leaves %v: want %v", row, got, want)
		}
	}
}
