package drift_test

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/lockstorm/lockstorm/internal/sweep/drift"
)

const ms = time.Millisecond

func TestCovering(t *testing.T) {
	for _, c := range []struct{ fast, slow, want float64 }{
		{0, 0, 0},
		{0, 0.01, 0.01},
		{0.25, 0, 0.2},
		{0.25, 0.05, 0.24},
	} {
		if got := drift.Covering(c.fast, c.slow); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("nodes %v fast and a holder %v slow: %v, want %v", c.fast, c.slow, got, c.want)
		}
	}
	if got := drift.CoveringStep(0.03); got != 0.03 {
		t.Errorf("a step of 3 %%: %v", got)
	}
	if got := drift.CoveringStep(-0.03); got != 0 {
		t.Errorf("a step back, which only makes keys live longer: %v, want nothing", got)
	}
}

func TestGranted(t *testing.T) {
	for _, c := range []struct {
		name                      string
		overlap, way, grain, step time.Duration
		want                      float64
	}{
		{"covered", -ms, 0, ms, ms, 0},
		{"on the way there and back", 2 * ms, ms, ms, ms, 0},
		{"half of either", ms, 0, ms, ms, 0.5},
		{"a quarter of either", ms / 2, 0, ms, ms, 0.125},
		{"a long step", 2 * ms, 0, ms, 4 * ms, 0.375},
		{"all", 2 * ms, 0, ms, ms, 1},
		{"all but nothing", 2*ms - 1, 0, ms, ms, 1},
	} {
		if got := drift.Granted(c.overlap, c.way, c.grain, c.step); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// An allowance of just what covers the clocks leaves no overlap, a little less does.
func TestNoOverlapWhereCovered(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		fast, slow := rapid.Float64Range(0, 0.5).Draw(t, "fast"), rapid.Float64Range(0, 0.3).Draw(t, "slow")
		ttl := time.Duration(rapid.Int64Range(int64(10*ms), int64(time.Hour)).Draw(t, "ttl"))
		enough := time.Duration(drift.Covering(fast, slow) * float64(ttl))
		little := ttl / 10_000
		if o := drift.Overlap(ttl, enough+little, fast, slow, 0); o > 0 {
			t.Errorf("%v is enough of %v, and keys end %v too soon", enough, ttl, o)
		}
		if o := drift.Overlap(ttl, enough-little, fast, slow, 0); o <= 0 {
			t.Errorf("%v is needed of %v, and with %v less there is no overlap: %v", enough, ttl, little, o)
		}
	})
}

// What is rounded is a probability still.
func TestGrantedIsAProbabilityWhereItIsRounded(t *testing.T) {
	for overlap := time.Duration(1); overlap < 10; overlap++ {
		for step := time.Duration(1); step < 10; step++ {
			if p := drift.Granted(overlap, 1, 1, step); p < 0 || p > 1 {
				t.Errorf("overlap %d, step %d: %v is no probability", overlap, step, p)
			}
		}
	}
}

// The longer the overlap the likelier a rival is granted the lock in it; the likelier, too,
// the less it takes.
func TestGrantedGrowsWithTheOverlap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string, lo int64) time.Duration {
			return time.Duration(rapid.Int64Range(lo, int64(10*ms)).Draw(t, name))
		}
		overlap, more, way, grain, step := draw("overlap", -int64(ms)), draw("more", 0), draw("way", 0), draw("grain", 1), draw("step", 1)
		p := drift.Granted(overlap, way, grain, step)
		if p < 0 || p > 1 {
			t.Errorf("%v is no probability", p)
		}
		if longer := drift.Granted(overlap+more, way, grain, step); longer < p-1e-9 {
			t.Errorf("%v with an overlap of %v, %v with %v more", p, overlap, longer, more)
		}
		if farther := drift.Granted(overlap, way+more, grain, step); farther > p+1e-9 {
			t.Errorf("%v, and %v if each way takes %v longer", p, farther, more)
		}
		if slower := drift.Granted(overlap, way, grain, step+more); slower > p+1e-9 {
			t.Errorf("%v, and %v if a rival asks %v less often", p, slower, more)
		}
	})
}
