package fuzz_test

import (
	"runtime"
	"testing"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/internal/fuzz"
	"github.com/lockstorm/lockstorm/internal/runner/simulated"
	"github.com/lockstorm/lockstorm/scenarios"
)

// BenchmarkRuns measures a run of a hunt, all that goes with it included, on one core.
func BenchmarkRuns(b *testing.B) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	row, err := scenarios.Find("crash-restart")
	if err != nil {
		b.Fatal(err)
	}
	for _, guidance := range []fuzz.Guidance{fuzz.None, fuzz.Aim, fuzz.Full} {
		b.Run(string(guidance), func(b *testing.B) {
			err := fuzz.Hunt{
				Backend: simulated.Backend(), Ground: fuzz.SpaceAround(row), Terms: fuzz.AnyTerms,
				Wanted: []checker.Property{checker.Lease}, Most: 6, Seed: 1, Guidance: guidance,
				Each: func(s fuzz.Run) bool { return s.Number < b.N },
			}.Run(b.Context())
			if err != nil {
				b.Fatal(err)
			}
		})
	}
}
