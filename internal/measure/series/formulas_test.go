package series_test

import (
	"math"
	"testing"
	"time"

	"github.com/lockstorm/lockstorm/internal/measure/series"
)

const ms = time.Millisecond

func near(a, b float64) bool { return math.Abs(a-b) < 1e-6 }

func TestProbabilities(t *testing.T) {
	for _, c := range []struct {
		name      string
		got, want float64
	}{
		{"plain, at once", series.PlainRisk(0, 1000*ms, 0), 1},
		{"plain, half way", series.PlainRisk(490*ms, 1000*ms, 10*ms), 0.5},
		{"plain, at the end", series.PlainRisk(990*ms, 1000*ms, 10*ms), 0},
		{"plain, beyond", series.PlainRisk(2000*ms, 1000*ms, 10*ms), 0},
		{"extended, still certain", series.ExtendedRisk(690*ms, 1000*ms, 10*ms, 300*ms), 1},
		{"extended, half way", series.ExtendedRisk(840*ms, 1000*ms, 10*ms, 300*ms), 0.5},
		{"extended, at the end", series.ExtendedRisk(990*ms, 1000*ms, 10*ms, 300*ms), 0},
		{"unsynced, at once, synced once a validity", series.UnsyncedRisk(0, 1000*ms, 0, 1000*ms, 1, 1), 0.5},
		{"unsynced, half way", series.UnsyncedRisk(500*ms, 1000*ms, 0, 1000*ms, 1, 1), 0.375},
		{"unsynced, synced twice a validity", series.UnsyncedRisk(0, 1000*ms, 0, 500*ms, 1, 1), 0.25},
		{"unsynced, beyond", series.UnsyncedRisk(1500*ms, 1000*ms, 0, 1000*ms, 1, 1), 0},
		{"unsynced, both of two", series.UnsyncedRisk(0, 1000*ms, 0, 1000*ms, 2, 2), 1. / 3},
		{"unsynced, either of two", series.UnsyncedRisk(0, 1000*ms, 0, 1000*ms, 2, 1), 2. / 3},
		{"unsynced, three of two", series.UnsyncedRisk(0, 1000*ms, 0, 1000*ms, 2, 3), 0},
	} {
		if !near(c.got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, c.got, c.want)
		}
	}
}

// By hand, for a lease that is extended every 300 ms, twice before the crash, with w from 0 to
// 300 ms: on an immediate return all is repaired except a vote that no sync saw, 1 − 0.6 − w;
// after 650 ms nothing is, 1 − w; after 700 ms only leases up to w = 288 ms are left.
func TestRenewals(t *testing.T) {
	r := series.Renewal{TTL: time.Second, Validity: 988 * ms, Every: 300 * ms, Timeout: 50 * ms, Done: 2}
	for delay, want := range map[time.Duration]float64{
		0:           0.25,
		650 * ms:    0.85,
		700 * ms:    (0.288 - 0.288*0.288/2) / 0.3,
		time.Second: 0,
	} {
		if got := r.Unsynced(delay, 0, time.Second); math.Abs(got-want) > 0.001 {
			t.Errorf("after %v: %.4f, want %.4f", delay, got, want)
		}
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
		if got := series.Granted(c.overlap, c.way, c.grain, c.step); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
