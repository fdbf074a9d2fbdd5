package restart_test

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/lockstorm/lockstorm/internal/sweep/restart"
)

// By hand, of a lease that is extended every 300 ms, twice before the crash, with w from 0
// to 300 ms: at a return at once all but a vote that no sync saw is mended, 1 − 0.6 − w;
// at one after 650 ms nothing is, 1 − w; at one after 700 ms that is left of the leases
// that live, up to w = 288 ms.
func TestRenewals(t *testing.T) {
	r := restart.Renewal{TTL: time.Second, Validity: 988 * ms, Every: 300 * ms, Timeout: 50 * ms, Done: 2}
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

// A disk that is synced now and then, and a holder who mends, make nothing worse than a
// node that keeps nothing.
func TestRenewalsMend(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		long := drawn(t, "ttl", 100*ms, time.Hour)
		every := drawn(t, "every", long/20, long/2)
		r := restart.Renewal{
			TTL: long, Validity: long - long/50, Every: every,
			Timeout: drawn(t, "timeout", 0, long/5), Done: rapid.IntRange(1, 5).Draw(t, "done"),
		}
		delay, back, sync := drawn(t, "delay", 0, long), drawn(t, "back", 0, long/10), drawn(t, "sync", ms, time.Hour)
		got, most := r.Unsynced(delay, back, sync), restart.Extended(delay, r.Validity, back, every)
		if got < 0 || got > most+0.001 {
			t.Errorf("%v, want from 0 to %v, which it is without a disk", got, most)
		}
	})
}
