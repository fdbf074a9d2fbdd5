package tune

import (
	"math"
	"strconv"
	"time"

	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/scenarios"
)

// Setting is what is recommended, or was weighed. Durations are in nanoseconds in JSON.
type Setting struct {
	TTL         time.Duration `json:"ttl"`
	DriftFactor float64       `json:"drift_factor"`
	NodeTimeout time.Duration `json:"node_timeout"`
	RetryMin    time.Duration `json:"retry_min"` // random, from here
	RetryMax    time.Duration `json:"retry_max"` // to here

	// ExtendEvery is how long after the grant, and after each extension, the hold is
	// extended; 0: not at all.
	ExtendEvery time.Duration `json:"extend_every"`

	// Margin is how long before the end of its validity the holder is told of it.
	Margin time.Duration `json:"margin"`

	// RestartDelay is how long a node that has crashed stays away, from the crash on; 0:
	// it may come back at once.
	RestartDelay time.Duration `json:"restart_delay"`
}

// Allowance is what is set aside of the TTL.
func (s Setting) Allowance() time.Duration { return s.Lock().Allowance(s.TTL) }

// Validity is what is left of the TTL, from before the first request was sent.
func (s Setting) Validity() time.Duration { return s.TTL - s.Allowance() }

// again is how long after one extension that found no quorum the next one fails: the lock
// tries after a quarter of the interval, or a node timeout if that is less.
func (s Setting) again() time.Duration {
	return s.NodeTimeout + min(s.ExtendEvery/4, s.NodeTimeout)
}

// spareExtensions is how many extensions may fail one after another and leave room for one
// that does not.
func (s Setting) spareExtensions() int {
	room := s.Validity() - s.Margin - s.ExtendEvery - 2*s.NodeTimeout
	if room < 0 || s.ExtendEvery == 0 {
		return -1
	}
	return int(room / s.again())
}

// failuresAllowed is how many extensions a recommended setting lets fail.
const failuresAllowed = 2

// possible reports whether the lock would take the setting, and whether extensions that fail
// leave room for another.
func (s Setting) possible() bool {
	switch {
	case s.Validity() <= s.Margin+s.NodeTimeout:
		return false
	case s.ExtendEvery > 0:
		return s.ExtendEvery < s.Validity()-s.Margin && s.spareExtensions() >= failuresAllowed
	}
	return true
}

// slack is what pauses may take of a hold that lasts so long, or of an interval between two
// extensions, before the holder is late.
func (s Setting) slack(hold time.Duration) time.Duration {
	if s.ExtendEvery > 0 {
		return s.Validity() - s.Margin - s.ExtendEvery - 2*s.NodeTimeout
	}
	return s.Validity() - s.NodeTimeout - hold
}

// Lock is the lock of a scenario with these settings.
func (s Setting) Lock() scenarios.Lock {
	return scenarios.Lock{
		Kind:        "redlock",
		TTL:         s.TTL,
		DriftFactor: s.DriftFactor,
		Clock:       "boottime",
		NodeTimeout: s.NodeTimeout,
		Linger:      4 * s.NodeTimeout,
		Margin:      s.Margin,
		Retry:       nemesis.Range{Min: s.RetryMin, Max: s.RetryMax},
		Watchdog:    scenarios.Watchdog{Every: s.ExtendEvery},
	}
}

// preferredNumbers are the numbers 1, 1.5, 2, 3, 5, 7 times powers of ten, of a unit, from lo to hi.
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

// leastTTL is the shortest TTL that is weighed.
const leastTTL = 50 * time.Millisecond

// terms are the pairs of TTL and extension interval that are weighed, with what follows from
// the TTL; the node timeout is the longest of those that are.
func (k Known) terms(timeout time.Duration) (list []Setting) {
	for _, ttl := range preferredNumbers(leastTTL, k.longestTTL(), time.Millisecond) {
		every := []time.Duration{0}
		if !k.NoExtension {
			every = append(every, ttl/2, ttl/3, ttl/4, ttl/6)
		}
		for _, e := range every {
			s := Setting{
				TTL:         ttl,
				DriftFactor: k.Clocks.DriftFactor(ttl),
				NodeTimeout: timeout,
				ExtendEvery: e.Truncate(time.Millisecond),
				Margin:      ttl / 20,
			}
			s.RestartDelay = k.restartDelay(s)
			if s.DriftFactor < 1 && s.possible() && (e == 0 || s.ExtendEvery > 0) {
				list = append(list, s)
			}
		}
	}
	return list
}

// restartDelay is what is recommended for a setting, or what is given.
func (k Known) restartDelay(s Setting) time.Duration {
	switch {
	case k.Crashes.RestartDelay != nil:
		return *k.Crashes.RestartDelay
	case !k.forgets():
		return 0
	}
	return k.Clocks.RestartDelay(s.TTL)
}

// pace is a pair of node timeout and retry delay.
type pace struct{ timeout, retryMin, retryMax time.Duration }

// paces are the pairs that are weighed: timeouts from quantiles of the round trip, and random
// delays that are at least so wide that clients who have split the votes fall out of step.
func (k Known) paces() (list []pace) {
	// A delay that is long against holds and thinking leaves the lock lying.
	most := max(quantile(k.Hold, 0.5), 20*quantile(k.RoundTrip, 0.99))
	for _, timeout := range k.timeouts() {
		least := 2 * quantile(k.RoundTrip, 0.5)
		for _, hi := range preferredNumbers(least, most, time.Millisecond) {
			if first := strconv.Itoa(int(hi))[0]; first != '3' && first != '7' { // 1, 1.5, 2 and 5 are enough
				list = append(list, pace{timeout, hi / 5, hi})
			}
		}
	}
	return list
}

// leastTimeout is the shortest node timeout that is weighed: a process may be scheduled late.
const leastTimeout = 5 * time.Millisecond

// timeouts are the node timeouts that are weighed.
func (k Known) timeouts() (list []time.Duration) {
	for _, d := range []time.Duration{
		2 * quantile(k.RoundTrip, 0.99), 2 * quantile(k.RoundTrip, 0.999), longest(k.RoundTrip) * 5 / 4,
	} {
		d = preferredNumbers(max(d, leastTimeout), 100*max(d, leastTimeout), time.Millisecond)[0]
		if len(list) == 0 || d > list[len(list)-1] {
			list = append(list, d)
		}
	}
	return list
}

// leastDrift is the drift factor that the algorithm's page uses. Where clocks need less it
// costs a hundredth of the TTL, and covers clocks that are worse than was thought.
const leastDrift = 0.01

// rho is the bound of the rate as a share.
func (c Clocks) rho() float64 { return float64(c.RatePPM) / 1e6 }

// NeededAllowance is the least that a lock has to set aside of a TTL, for a holder whose clock
// is slow, nodes whose clocks are fast, and steps forward of theirs: all of it, if a step
// takes it all.
func (c Clocks) NeededAllowance(ttl time.Duration) time.Duration {
	left, rho := float64(max(0, ttl-c.LargestStep)), c.rho() // of the TTL, after the step
	return time.Duration(math.Ceil(float64(ttl) - left*(1-rho)/(1+rho)))
}

// DriftFactor is the recommended drift factor for a TTL: enough for [Clocks.NeededAllowance]
// without the 2 ms beside it, in whole thousandths, at least 0.01.
func (c Clocks) DriftFactor(ttl time.Duration) float64 {
	needed := float64(c.NeededAllowance(ttl)) / float64(ttl)
	return max(leastDrift, math.Ceil(needed*1000-1e-9)/1000)
}

// NeededRestartDelay is the least that a node without its keys has to stay away, from the
// crash on, by the clock that counts it: with an allowance and the longest TTL.
func (c Clocks) NeededRestartDelay(ttl, allowance time.Duration) time.Duration {
	rho := c.rho()
	return time.Duration(math.Ceil((1+rho)*float64(ttl-allowance)/(1-rho))) + c.LargestStep
}

// RestartDelay is the recommended restart delay: TTL × (1 + ρ), and a step more, in whole
// milliseconds.
func (c Clocks) RestartDelay(ttl time.Duration) time.Duration {
	return roundUp(time.Duration(math.Ceil(float64(ttl)*(1+c.rho())))+c.LargestStep, time.Millisecond)
}

func roundUp(d, unit time.Duration) time.Duration { return (d + unit - 1) / unit * unit }
