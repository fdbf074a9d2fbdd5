package series_test

import (
	"math"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/internal/measure/series"
)

const ms = time.Millisecond

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
		if got := series.Granted(c.overlap, c.way, c.grain, c.step); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
