package restart

import (
	"math"
	"math/big"
	"time"
)

// Plain returns the probability that a restart after a delay breaks lease exclusion:
//
//	max(0, 1 − (delay + back)/validity)
//
// for a holder who holds a bare quorum to the end of a validity, a node of which crashes
// at an instant that is uniform over it, and a rival who is granted the lock so long after
// the node is back. It follows from the definition: the rival is granted the lock before
// the end if the crash came in the first validity − delay − back.
func Plain(delay, validity, back time.Duration) float64 {
	return share(validity-delay-back, validity)
}

// Extended is [Plain] for a holder who extends, each time for the same validity, at
// intervals of every:
//
//	1                                  while delay + back ≤ validity − every
//	(validity − delay − back)/every    from there on
//	0                                  from delay + back = validity on
//
// The crash finds the last extension between nothing and one interval old, and no later
// one succeeds. If every is the validity it is Plain.
func Extended(delay, validity, back, every time.Duration) float64 {
	return share(validity-delay-back, every)
}

// Unsynced is [Plain] for nodes that lose power, all at once, and that sync what they
// write at intervals of sync (a second, with aof-everysec), each at times of its own. A
// vote of age v is lost with the probability q = 1 − v/sync, or not at all if it is older
// than that; so many of the nodes have to lose theirs as are needed. The probability of
// that is a binomial tail, integrated over the ages that are young enough, up to
// x = validity − delay − back, and divided by the validity. For a single node it comes to
//
//	(x − x²/(2 sync))/validity    where x ≤ sync; beyond, as at x = sync
func Unsynced(delay, validity, back, sync time.Duration, nodes, needed int) float64 {
	x := min(max(validity-delay-back, 0), sync)
	lost := func(v float64) float64 { return tail(nodes, needed, 1-v/sync.Seconds()) }
	return integral(lost, x.Seconds()) / validity.Seconds()
}

// tail is the probability of at least so many successes, each of which has the
// probability p, in n trials.
func tail(n, atLeast int, p float64) float64 {
	sum := 0.0
	for k := atLeast; k <= n; k++ {
		ways := new(big.Int).Binomial(int64(n), int64(k))
		w, _ := new(big.Float).SetInt(ways).Float64()
		sum += w * math.Pow(p, float64(k)) * math.Pow(1-p, float64(n-k))
	}
	return sum
}

// integral is that of a smooth function from 0 to x, by Simpson's rule.
func integral(f func(float64) float64, x float64) float64 {
	const pairs = 100
	h := x / (2 * pairs)
	sum := f(0) + f(x)
	for i := 1; i < 2*pairs; i++ {
		weight := 2 + 2*float64(i%2)
		sum += weight * f(float64(i)*h)
	}
	return sum * h / 3
}

// share is part/whole, from 0 to 1.
func share(part, whole time.Duration) float64 {
	return min(max(part.Seconds()/whole.Seconds(), 0), 1)
}

// SafeDelay returns how long after a crash a node that comes back empty can do no harm:
//
//	(1 + fast)(ttl − allowance)/(1 − slow)
//
// ttl is the longest time to live that any acquire or extension asks for, and allowance
// what the lock sets aside of it. slow, below 1, is how much the clock may be slow that a
// holder counts its validity on: a validity ends no later than (ttl − allowance)/(1 − slow)
// after it was asked for. fast is how much the clock may be fast that counts the delay:
// so much longer it has to count. By which clock the nodes expire their keys does not
// enter, for an empty node has none.
//
// It counts from the crash, the latest instant at which the node may have voted, and so
// leaves out what is in the operator's favour: the vote came a while after it was asked
// for, and a rival's grant takes time.
func SafeDelay(ttl, allowance time.Duration, slow, fast float64) time.Duration {
	return time.Duration((1 + fast) * float64(ttl-allowance) / (1 - slow))
}

// ClockRule is the rule of thumb ttl (1 + fast). It suffices as long as the allowance
// covers the holder's clock, allowance/ttl ≥ slow, because [SafeDelay] is then at most
// that.
func ClockRule(ttl time.Duration, fast float64) time.Duration {
	return time.Duration((1 + fast) * float64(ttl))
}

// DriftRule is the rule of thumb ttl (1 + factor), with the lock's drift factor. It
// knows neither clock: it suffices as long as (1 + fast)(1 − allowance/ttl) ≤
// (1 + factor)(1 − slow), which is about fast + slow ≤ 2 factor.
func DriftRule(ttl time.Duration, factor float64) time.Duration {
	return time.Duration((1 + factor) * float64(ttl))
}

// Safe is the delay, as a share of the TTL, from which on no point of [Delay] can break
// lease exclusion: [SafeDelay] with clocks that are right.
func Safe() float64 { return SafeDelay(ttl, allowance(ttl, factor), 0, 0).Seconds() / ttl.Seconds() }
