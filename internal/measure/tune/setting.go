package tune

import (
	"math"
	"strconv"
	"time"

	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// Setting is a setting of the lock that is weighed or recommended. Durations are in
// nanoseconds in JSON.
type Setting struct {
	TTL          time.Duration `json:"ttl"`
	DriftFactor  float64       `json:"drift_factor"`
	NodeTimeout  time.Duration `json:"node_timeout"`
	RetryMin     time.Duration `json:"retry_min"`     // the delay is random, from here
	RetryMax     time.Duration `json:"retry_max"`     // to here
	ExtendEvery  time.Duration `json:"extend_every"`  // 0: no extensions
	Margin       time.Duration `json:"margin"`        // how long before the end of its validity the holder is warned
	RestartDelay time.Duration `json:"restart_delay"` // how long a crashed node stays away; 0: it may return at once
}

// Allowance returns what the lock subtracts from the TTL for clock errors.
func (s Setting) Allowance() time.Duration { return s.Lock().Allowance(s.TTL) }

// Validity returns the TTL minus the allowance. It counts from before the first request.
func (s Setting) Validity() time.Duration { return s.TTL - s.Allowance() }

// spareExtensions returns how many extensions may fail in a row and leave time for one that succeeds.
func (s Setting) spareExtensions() int { return int(s.slack() / s.retried()) }

// retried returns the time from an extension that fails to the next. The lock retries after a quarter of the interval,
// or after a node timeout if that is shorter.
func (s Setting) retried() time.Duration {
	return s.NodeTimeout + min(s.ExtendEvery/4, s.NodeTimeout)
}

// possible reports whether the lock accepts the setting, and enough extensions may fail.
func (s Setting) possible() bool {
	return s.DriftFactor < 1 && s.Validity() > s.Margin+s.NodeTimeout && (s.ExtendEvery == 0 || s.spareExtensions() >= failuresAllowed)
}

// slack returns how long pauses between two extensions may be before the holder is late: a late extension still has
// to succeed.
func (s Setting) slack() time.Duration {
	return s.Validity() - s.Margin - s.ExtendEvery - 2*s.NodeTimeout
}

// Lock returns the lock of a scenario with these settings.
func (s Setting) Lock() scenarios.Lock {
	return scenarios.Lock{
		Kind: "redlock", TTL: s.TTL, DriftFactor: s.DriftFactor, Clock: "boottime",
		NodeTimeout: s.NodeTimeout, Linger: 4 * s.NodeTimeout, Margin: s.Margin,
		Retry: nemesis.Range{Min: s.RetryMin, Max: s.RetryMax}, Watchdog: scenarios.Watchdog{Every: s.ExtendEvery},
	}
}

// preferredNumbers returns 1, 1.5, 2, 3, 5 and 7 times powers of ten of a unit, from lo to hi.
func preferredNumbers(lo, hi, unit time.Duration) (list []time.Duration) {
	for ; unit <= hi; unit *= 10 {
		for _, tenths := range []time.Duration{10, 15, 20, 30, 50, 70} {
			if d := unit * tenths / 10; d >= lo && d <= hi {
				list = append(list, d)
			}
		}
	}
	return list
}

const (
	leastTTL     = 50 * time.Millisecond // that is weighed
	leastTimeout = 5 * time.Millisecond  // of a node: a process may be scheduled late

	failuresAllowed = 2 // extensions that may fail in a row

	// leastDrift is the drift factor of the algorithm's page. For clocks that need less, it costs 1 %
	// of the TTL and covers clocks that are worse than assumed.
	leastDrift = 0.01
)

// candidates returns the settings to weigh: each TTL with each extension interval. timeout is
// the longest node timeout.
func (k Known) candidates(timeout time.Duration) (list []Setting) {
	ttls := []time.Duration{k.TTL}
	if k.TTL == 0 {
		ttls = preferredNumbers(leastTTL, k.longestTTL(), time.Millisecond)
	}
	for _, ttl := range ttls {
		every := []time.Duration{0}
		if !k.NoExtension {
			every = append(every, ttl/2, ttl/3, ttl/4, ttl/6)
		}
		for _, e := range every {
			s := Setting{TTL: ttl, DriftFactor: k.Clocks.DriftFactor(ttl), NodeTimeout: timeout, ExtendEvery: e.Truncate(time.Millisecond), Margin: ttl / 20}
			if k.forgets() {
				s.RestartDelay = k.Clocks.RestartDelay(ttl)
			}
			if s.possible() && (e == 0 || s.ExtendEvery > 0) {
				list = append(list, s)
			}
		}
	}
	return list
}

// timing is a node timeout and a range of retry delays.
type timing struct{ timeout, retryMin, retryMax time.Duration }

// timings returns the timings to weigh: timeouts from quantiles of the round trip, and random
// delays wide enough that clients that split the votes diverge.
func (m *model) timings() (list []timing) {
	// A delay that is long against holds leaves the lock lying.
	most := max(m.Hold.quantile(0.5), 20*m.pace.quantile(0.99))
	for _, timeout := range m.timeouts() {
		for _, hi := range preferredNumbers(2*m.pace.quantile(0.5), most, time.Millisecond) {
			if first := strconv.Itoa(int(hi))[0]; first != '3' && first != '7' { // 1, 1.5, 2 and 5 are enough
				list = append(list, timing{timeout, hi / 5, hi})
			}
		}
	}
	return list
}

// timeouts returns the node timeouts to weigh. The slowest node has to have a vote.
func (m *model) timeouts() (list []time.Duration) {
	for _, d := range []time.Duration{2 * m.slowest.quantile(0.99), m.slowest.Max * 5 / 4} {
		d = preferredNumbers(max(d, leastTimeout), 100*max(d, leastTimeout), time.Millisecond)[0]
		if len(list) == 0 || d > list[len(list)-1] {
			list = append(list, d)
		}
	}
	return list
}

// rho is the bound of the rate as a share.
func (c Clocks) rho() float64 { return float64(c.RatePPM) / 1e6 }

// NeededAllowance returns the least allowance that covers a slow clock of the holder, fast
// clocks of the nodes and steps forward. It is the whole TTL if a step is as long.
func (c Clocks) NeededAllowance(ttl time.Duration) time.Duration {
	left, rho := float64(max(0, ttl-c.LargestStep)), c.rho() // of the TTL, after the step
	return time.Duration(math.Ceil(float64(ttl) - left*(1-rho)/(1+rho)))
}

// DriftFactor returns the recommended drift factor for a TTL: enough for
// [Clocks.NeededAllowance] without the additional 2 ms, rounded up to thousandths, and at
// least 0.01.
func (c Clocks) DriftFactor(ttl time.Duration) float64 {
	needed := float64(c.NeededAllowance(ttl)) / float64(ttl)
	return max(leastDrift, math.Ceil(needed*1000-1e-9)/1000)
}

// NeededRestartDelay returns the least time that a node without its keys has to stay away,
// from the crash on, by the clock that counts it. ttl is the longest TTL.
func (c Clocks) NeededRestartDelay(ttl, allowance time.Duration) time.Duration {
	rho := c.rho()
	return time.Duration(math.Ceil((1+rho)*float64(ttl-allowance)/(1-rho))) + c.LargestStep
}

// RestartDelay returns the recommended restart delay: TTL × (1 + ρ) plus one step, rounded up
// to milliseconds.
func (c Clocks) RestartDelay(ttl time.Duration) time.Duration {
	return roundUp(time.Duration(math.Ceil(float64(ttl)*(1+c.rho())))+c.LargestStep, time.Millisecond)
}

func roundUp(d, unit time.Duration) time.Duration { return (d + unit - 1) / unit * unit }
