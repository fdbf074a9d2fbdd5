package restart_test

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/lockstorm/lockstorm/internal/sweep/restart"
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
		{"plain, at once", restart.Plain(0, 1000*ms, 0), 1},
		{"plain, half way", restart.Plain(490*ms, 1000*ms, 10*ms), 0.5},
		{"plain, at the end", restart.Plain(990*ms, 1000*ms, 10*ms), 0},
		{"plain, beyond", restart.Plain(2000*ms, 1000*ms, 10*ms), 0},
		{"extended, still certain", restart.Extended(690*ms, 1000*ms, 10*ms, 300*ms), 1},
		{"extended, half way", restart.Extended(840*ms, 1000*ms, 10*ms, 300*ms), 0.5},
		{"extended, at the end", restart.Extended(990*ms, 1000*ms, 10*ms, 300*ms), 0},
		{"unsynced, at once, synced once a validity", restart.Unsynced(0, 1000*ms, 0, 1000*ms, 1, 1), 0.5},
		{"unsynced, half way", restart.Unsynced(500*ms, 1000*ms, 0, 1000*ms, 1, 1), 0.375},
		{"unsynced, synced twice a validity", restart.Unsynced(0, 1000*ms, 0, 500*ms, 1, 1), 0.25},
		{"unsynced, beyond", restart.Unsynced(1500*ms, 1000*ms, 0, 1000*ms, 1, 1), 0},
		{"unsynced, both of two", restart.Unsynced(0, 1000*ms, 0, 1000*ms, 2, 2), 1. / 3},
		{"unsynced, either of two", restart.Unsynced(0, 1000*ms, 0, 1000*ms, 2, 1), 2. / 3},
		{"unsynced, three of two", restart.Unsynced(0, 1000*ms, 0, 1000*ms, 2, 3), 0},
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
		{"perfect clocks", restart.SafeDelay(tti, 12*ms, 0, 0), 988 * ms},
		{"a slow holder", restart.SafeDelay(tti, 10*ms, 0.01, 0), 1000 * ms},
		{"a fast delay", restart.SafeDelay(tti, 10*ms, 0, 0.1), 1089 * ms},
		{"both", restart.SafeDelay(tti, 100*ms, 0.1, 0.1), 1100 * ms},
		{"by the clock of the delay", restart.ClockRule(tti, 0.1), 1100 * ms},
		{"by the drift factor", restart.DriftRule(tti, 0.01), 1010 * ms},
	} {
		if (c.got - c.want).Abs() > time.Microsecond {
			t.Errorf("%s: %v, want %v", c.name, c.got, c.want)
		}
	}
}

func drawn(t *rapid.T, name string, lo, hi time.Duration) time.Duration {
	return time.Duration(rapid.Int64Range(int64(lo), int64(hi)).Draw(t, name))
}

// Who stays away longer risks no more, nor does who meets a slower rival; and a vote that
// may have been synced is no greater risk than one that cannot have been.
func TestLongerIsNoRiskier(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v, e, sync := drawn(t, "validity", ms, time.Hour), drawn(t, "every", ms, time.Hour), drawn(t, "sync", ms, time.Hour)
		short, more := drawn(t, "delay", 0, time.Hour), drawn(t, "more", 0, time.Hour)
		back := drawn(t, "back", 0, time.Minute)
		nodes := rapid.IntRange(1, 9).Draw(t, "nodes")
		needed := rapid.IntRange(1, nodes).Draw(t, "needed")
		for name, p := range map[string]func(d, back time.Duration) float64{
			"plain":    func(d, back time.Duration) float64 { return restart.Plain(d, v, back) },
			"extended": func(d, back time.Duration) float64 { return restart.Extended(d, v, back, e) },
			"unsynced": func(d, back time.Duration) float64 { return restart.Unsynced(d, v, back, sync, nodes, needed) },
		} {
			risk := p(short, back)
			if risk < 0 || risk > 1+1e-9 {
				t.Errorf("%s: %v is no probability", name, risk)
			}
			if longer := p(short+more, back); longer > risk+1e-9 {
				t.Errorf("%s: risk %v after %v, and %v after %v more", name, risk, short, longer, more)
			}
			if slower := p(short, back+more); slower > risk+1e-9 {
				t.Errorf("%s: risk %v, and %v if the rival takes %v longer", name, risk, slower, more)
			}
		}
		if u, p := restart.Unsynced(short, v, back, sync, nodes, needed), restart.Plain(short, v, back); u > p+1e-9 {
			t.Errorf("a node that syncs risks %v, and one that keeps nothing %v", u, p)
		}
	})
}

// Who extends once a validity risks what somebody does who never extends, and who extends
// more often no less. A disk that is never synced keeps nothing.
func TestFormulasMeet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v, delay, back := drawn(t, "validity", ms, time.Hour), drawn(t, "delay", 0, time.Hour), drawn(t, "back", 0, time.Minute)
		plain := restart.Plain(delay, v, back)
		if got := restart.Extended(delay, v, back, v); !near(got, plain) {
			t.Errorf("extended once a validity: %v, plain %v", got, plain)
		}
		if got := restart.Extended(delay, v, back, drawn(t, "every", 1, v)); got < plain-1e-12 {
			t.Errorf("extended: %v, less than plain, %v", got, plain)
		}
		if got := restart.Unsynced(delay, v, back, 1_000_000*time.Hour, 1, 1); !near(got, plain) {
			t.Errorf("hardly ever synced: %v, plain %v", got, plain)
		}
	})
}

// A delay has to be the longer the worse the clocks are and the smaller the allowance;
// T (1 + ρr) suffices exactly if the allowance covers the holder's clock.
func TestSafeDelayLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		long := drawn(t, "ttl", 100*ms, time.Hour)
		a := drawn(t, "allowance", 0, long/2)
		slow, fast := rapid.Float64Range(0, 0.5).Draw(t, "slow"), rapid.Float64Range(0, 0.5).Draw(t, "fast")
		safe := restart.SafeDelay(long, a, slow, fast)
		for name, worse := range map[string]time.Duration{
			"a slower holder":     restart.SafeDelay(long, a, slow+0.1, fast),
			"a faster delay":      restart.SafeDelay(long, a, slow, fast+0.1),
			"a longer TTL":        restart.SafeDelay(long+ms, a, slow, fast),
			"a smaller allowance": restart.SafeDelay(long, a/2, slow, fast),
		} {
			if worse < safe {
				t.Errorf("%s: %v is enough, %v was needed before", name, worse, safe)
			}
		}
		covered := a.Seconds() / long.Seconds()
		if math.Abs(covered-slow) < 1e-6 {
			return // too near to tell
		}
		if enough := restart.ClockRule(long, fast) >= safe; enough != (covered >= slow) {
			t.Errorf("T (1 + ρr) = %v, needed are %v, and the allowance covers %v of a holder that is %v slow", restart.ClockRule(long, fast), safe, covered, slow)
		}
	})
}
