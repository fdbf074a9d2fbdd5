package hunt_test

import (
	"runtime"
	"testing"

	"github.com/lockstorm/lockstorm/checker"
	"github.com/lockstorm/lockstorm/hunt"
	"github.com/lockstorm/lockstorm/hunt/assume"
	"github.com/lockstorm/lockstorm/scenarios"
	"github.com/lockstorm/lockstorm/storm/simulated"
)

// BenchmarkRuns measures a run of a hunt, all that goes with it included, on one core.
func BenchmarkRuns(b *testing.B) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	row, err := scenarios.Find("crash-restart")
	if err != nil {
		b.Fatal(err)
	}
	for _, guidance := range []hunt.Guidance{hunt.None, hunt.Aim, hunt.Full} {
		b.Run(string(guidance), func(b *testing.B) {
			err := hunt.Hunt{
				Backend: simulated.Backend(), Ground: hunt.Around(row), Terms: assume.Anything,
				Wanted: []checker.Property{checker.Lease}, Most: 6, Seed: 1, Guidance: guidance,
				Each: func(s hunt.Shot) bool { return s.Number < b.N },
			}.Run(b.Context())
			if err != nil {
				b.Fatal(err)
			}
		})
	}
}
