package series_test

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/lockstorm/lockstorm/internal/sweep/series"
)

const (
	ms  = time.Millisecond
	tti = time.Second
)

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

func TestSafeDelays(t *testing.T) {
	for _, c := range []struct {
		name      string
		got, want time.Duration
	}{
		{"perfect clocks", series.SafeDelay(tti, 12*ms, 0, 0), 988 * ms},
		{"a slow holder", series.SafeDelay(tti, 10*ms, 0.01, 0), 1000 * ms},
		{"a fast delay", series.SafeDelay(tti, 10*ms, 0, 0.1), 1089 * ms},
		{"both", series.SafeDelay(tti, 100*ms, 0.1, 0.1), 1100 * ms},
		{"by the clock of the delay", series.ClockRule(tti, 0.1), 1100 * ms},
		{"by the drift factor", series.DriftRule(tti, 0.01), 1010 * ms},
	} {
		if (c.got - c.want).Abs() > time.Microsecond {
			t.Errorf("%s: %v, want %v", c.name, c.got, c.want)
		}
	}
}

func drawn(t *rapid.T, name string, lo, hi time.Duration) time.Duration {
	return time.Duration(rapid.Int64Range(int64(lo), int64(hi)).Draw(t, name))
}

// Extending once per validity is as risky as not extending, and extending more often no less
// risky. A disk that is never synced is as good as none.
func TestFormulasMeet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v, delay, back := drawn(t, "validity", ms, time.Hour), drawn(t, "delay", 0, time.Hour), drawn(t, "back", 0, time.Minute)
		plain := series.PlainRisk(delay, v, back)
		if got := series.ExtendedRisk(delay, v, back, v); !near(got, plain) {
			t.Errorf("extended once a validity: %v, plain %v", got, plain)
		}
		if got := series.ExtendedRisk(delay, v, back, drawn(t, "every", 1, v)); got < plain-1e-12 {
			t.Errorf("extended: %v, less than plain, %v", got, plain)
		}
		if got := series.UnsyncedRisk(delay, v, back, 1_000_000*time.Hour, 1, 1); !near(got, plain) {
			t.Errorf("hardly ever synced: %v, plain %v", got, plain)
		}
	})
}

// Worse clocks and smaller allowances need a longer delay. T (1 + ρr) is enough if and only if
// the allowance covers the holder's clock.
func TestSafeDelayLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		long := drawn(t, "ttl", 100*ms, time.Hour)
		a := drawn(t, "allowance", 0, long/2)
		slow, fast := rapid.Float64Range(0, 0.5).Draw(t, "slow"), rapid.Float64Range(0, 0.5).Draw(t, "fast")
		safe := series.SafeDelay(long, a, slow, fast)
		for name, worse := range map[string]time.Duration{
			"a slower holder":     series.SafeDelay(long, a, slow+0.1, fast),
			"a faster delay":      series.SafeDelay(long, a, slow, fast+0.1),
			"a longer TTL":        series.SafeDelay(long+ms, a, slow, fast),
			"a smaller allowance": series.SafeDelay(long, a/2, slow, fast),
		} {
			if worse < safe {
				t.Errorf("%s: %v is enough, %v was needed before", name, worse, safe)
			}
		}
		covered := a.Seconds() / long.Seconds()
		if math.Abs(covered-slow) < 1e-6 {
			return // too near to tell
		}
		if enough := series.ClockRule(long, fast) >= safe; enough != (covered >= slow) {
			t.Errorf("T (1 + ρr) = %v, needed are %v, and the allowance covers %v of a holder that is %v slow", series.ClockRule(long, fast), safe, covered, slow)
		}
	})
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

// A disk that is synced now and then, and a holder that repairs, are no riskier than a node
// that keeps nothing.
func TestRenewalsMend(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		long := drawn(t, "ttl", 100*ms, time.Hour)
		every := drawn(t, "every", long/20, long/2)
		r := series.Renewal{
			TTL: long, Validity: long - long/50, Every: every,
			Timeout: drawn(t, "timeout", 0, long/5), Done: rapid.IntRange(1, 5).Draw(t, "done"),
		}
		delay, back, sync := drawn(t, "delay", 0, long), drawn(t, "back", 0, long/10), drawn(t, "sync", ms, time.Hour)
		got, most := r.Unsynced(delay, back, sync), series.ExtendedRisk(delay, r.Validity, back, every)
		if got < 0 || got > most+0.001 {
			t.Errorf("%v, want from 0 to %v, which it is without a disk", got, most)
		}
	})
}

func TestCovering(t *testing.T) {
	for _, c := range []struct{ fast, slow, want float64 }{
		{0, 0, 0},
		{0, 0.01, 0.01},
		{0.25, 0, 0.2},
		{0.25, 0.05, 0.24},
	} {
		if got := series.NeededAllowance(c.fast, c.slow); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("nodes %v fast and a holder %v slow: %v, want %v", c.fast, c.slow, got, c.want)
		}
	}
	if got := series.NeededForStep(0.03); got != 0.03 {
		t.Errorf("a step of 3 %%: %v", got)
	}
	if got := series.NeededForStep(-0.03); got != 0 {
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
		if got := series.Granted(c.overlap, c.way, c.grain, c.step); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// The needed allowance leaves no overlap; a smaller one does.
func TestNoOverlapWhereCovered(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		fast, slow := rapid.Float64Range(0, 0.5).Draw(t, "fast"), rapid.Float64Range(0, 0.3).Draw(t, "slow")
		ttl := time.Duration(rapid.Int64Range(int64(10*ms), int64(time.Hour)).Draw(t, "ttl"))
		enough := time.Duration(series.NeededAllowance(fast, slow) * float64(ttl))
		little := ttl / 10_000
		if o := series.Overlap(ttl, enough+little, fast, slow, 0); o > 0 {
			t.Errorf("%v is enough of %v, and keys end %v too soon", enough, ttl, o)
		}
		if o := series.Overlap(ttl, enough-little, fast, slow, 0); o <= 0 {
			t.Errorf("%v is needed of %v, and with %v less there is no overlap: %v", enough, ttl, little, o)
		}
	})
}

// The rounded result is still a probability.
func TestGrantedIsAProbabilityWhereItIsRounded(t *testing.T) {
	for overlap := time.Duration(1); overlap < 10; overlap++ {
		for step := time.Duration(1); step < 10; step++ {
			if p := series.Granted(overlap, 1, 1, step); p < 0 || p > 1 {
				t.Errorf("overlap %d, step %d: %v is no probability", overlap, step, p)
			}
		}
	}
}
