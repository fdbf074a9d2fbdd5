package tune

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/nemesis"
)

const ms = time.Millisecond

func uniform(lo, hi time.Duration) nemesis.Distribution {
	return nemesis.Distribution{Range: nemesis.Range{Min: lo, Max: hi}}
}

var shapes = map[string]nemesis.Distribution{
	"uniform":    uniform(5*ms, 80*ms),
	"log-normal": {Range: nemesis.Range{Max: time.Second}, LogNormal: &nemesis.LogNormal{Median: 20 * ms, Sigma: 0.8}},
	"pareto":     {Range: nemesis.Range{Max: time.Second}, Pareto: &nemesis.Pareto{Scale: 10 * ms, Alpha: 1.3}},
}

// The model agrees with simulation: it is never below by more than the noise, and above only
// by the rounding of its grid.
func TestLatenessAgreesWithSimulation(t *testing.T) {
	const throws = 40_000
	for name, length := range shapes {
		table := length.Table()
		for _, every := range []time.Duration{20 * ms, 300 * ms, 5 * time.Second} {
			const running, slack = 200 * ms, 150 * ms
			d := rng{rand.New(rand.NewPCG(1, 2))}
			late := 0
			for range throws {
				sum := time.Duration(0)
				for at := d.wait(every); at < running; at += d.wait(every) {
					sum += d.of(table)
				}
				if sum > slack {
					late++
				}
			}
			seen := float64(late) / throws
			got := lateness{pauses: Pauses{Every: every, Length: &length}}.beyond(running, slack)
			if noise := 4 * math.Sqrt(seen*(1-seen)/throws); got < seen-noise-1e-4 || got > 1.1*seen+noise+1e-3 {
				t.Errorf("%s every %v: the model has %.4f, rng show %.4f", name, every, got, seen)
			}
		}
	}
}

// A sum of pauses that cannot exceed the slack never does; one that must always does.
func TestBoundedPauses(t *testing.T) {
	bound := 100 * ms
	l := lateness{pauses: Pauses{Bound: &bound}, trip: uniform(0, 5*ms), trips: resourceTrips}
	for slack, want := range map[time.Duration]float64{111 * ms: 0, 99 * ms: 1, -1: 1} {
		if got := l.beyond(time.Second, slack); math.Abs(got-want) > 1e-12 {
			t.Errorf("slack %v: %g, want %g", slack, got, want)
		}
	}
}

// Durations beyond the largest sample are possible, unless a max excludes them.
func TestSamplesLeaveTheirTailOpen(t *testing.T) {
	d := nemesis.Distribution{Samples: make([]time.Duration, 1000)}
	for i := range d.Samples {
		d.Samples[i] = time.Duration(i) * ms
	}
	if got := pausesAbove(d, time.Hour); got != 0.003 {
		t.Errorf("beyond the samples: %g, want 3 in 1000", got)
	}
	d.Range = nemesis.Range{Max: 2 * time.Second}
	if got := pausesAbove(d, 1500*ms); got != 0.003 {
		t.Errorf("between the samples and the max: %g, want 3 in 1000", got)
	}
	if got := pausesAbove(d, 2*time.Second); got != 0 {
		t.Errorf("beyond the max: %g", got)
	}
	if got := pausesAbove(d, 499*ms); got != 0.5 {
		t.Errorf("in the middle: %g", got)
	}
}
