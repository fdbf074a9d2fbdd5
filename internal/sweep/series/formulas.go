package series

import (
	"math"
	"math/big"
	"time"
)

// PlainRisk returns the probability that a restart after a delay breaks lease exclusion:
//
//	max(0, 1 − (delay + back)/validity)
//
// for a holder who holds a bare quorum to the end of a validity, a node of which crashes
// at an instant that is uniform over it, and a rival who is granted the lock so long after
// the node is back. It follows from the definition: the rival is granted the lock before
// the end if the crash came in the first validity − delay − back.
func PlainRisk(delay, validity, back time.Duration) float64 {
	return share(validity-delay-back, validity)
}

// ExtendedRisk is [PlainRisk] for a holder who extends, each time for the same validity, at
// intervals of every:
//
//	1                                  while delay + back ≤ validity − every
//	(validity − delay − back)/every    from there on
//	0                                  from delay + back = validity on
//
// The crash finds the last extension between nothing and one interval old, and no later
// one succeeds. If every is the validity it is Plain.
func ExtendedRisk(delay, validity, back, every time.Duration) float64 {
	return share(validity-delay-back, every)
}

// UnsyncedRisk is [PlainRisk] for nodes that lose power, all at once, and that sync what they
// write at intervals of sync (a second, with aof-everysec), each at times of its own. A
// vote of age v is lost with the probability q = 1 − v/sync, or not at all if it is older
// than that; so many of the nodes have to lose theirs as are needed. The probability of
// that is a binomial tail, integrated over the ages that are young enough, up to
// x = validity − delay − back, and divided by the validity. For a single node it comes to
//
//	(x − x²/(2 sync))/validity    where x ≤ sync; beyond, as at x = sync
func UnsyncedRisk(delay, validity, back, sync time.Duration, nodes, needed int) float64 {
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

// SafeDelayShare is the delay, as a share of the TTL, from which on no point of [RestartDelay] can break
// lease exclusion: [SafeDelay] with clocks that are right.
func SafeDelayShare() float64 {
	return SafeDelay(ttl, allowance(ttl, factor), 0, 0).Seconds() / ttl.Seconds()
}

// Renewal is a holder of a bare quorum who extends.
type Renewal struct {
	TTL      time.Duration // of the keys, at the grant and by each extension
	Validity time.Duration // of the lease, from each
	Every    time.Duration // from one extension to the next
	Timeout  time.Duration // by how much later the next one comes if a node does not answer
	Done     int           // extensions before the crash
}

// Unsynced is [ExtendedRisk] for a node that loses power and syncs at intervals of sync, as in
// the function [UnsyncedRisk]. It comes back with the key as of its last sync: under an expiry
// of the extension before, or that of several before, or not at all. The holder's first
// extension after the return mends that, if the older expiry has not come by then. So a
// node that is back at once is often mended, and one that stays away for long is not: the
// probability grows with the delay, as long as that is far from the safe one.
//
// Where the last extension is w old at the crash, uniform from 0 to Every, and a sync came
// between the k-th and the (k−1)-th extension before, which has the probability Every/sync
// for each k, exclusion is violated if
//
//   - the rival is granted the lock in time, delay + back < Validity − w,
//   - the last extension is lost, k ≥ 1,
//   - and the older key has expired when the holder first extends after the return, at
//     jEvery − w + (j−1)Timeout: TTL − w − kEvery is no later than that.
//
// It is a mean over w, taken at many of them.
func (r Renewal) Unsynced(delay, back, sync time.Duration) float64 {
	const samples = 3000
	sum := 0.0
	for i := range samples {
		w := r.Every * (2*time.Duration(i) + 1) / (2 * samples)
		if delay+back < r.Validity-w {
			sum += 1 - share(r.harmless(delay, w), sync)
		}
	}
	return sum / samples
}

// harmless is how old the last sync may be at the crash, and the lease is still mended.
func (r Renewal) harmless(delay, w time.Duration) time.Duration {
	mends := r.Every - w
	for mends < delay {
		mends += r.Every + r.Timeout
	}
	k := 1
	for k <= r.Done && r.TTL-w-time.Duration(k)*r.Every > mends {
		k++
	}
	return w + time.Duration(k-1)*r.Every
}

// NeededAllowance returns the least allowance, as a share of the TTL, that covers nodes whose
// clocks are so fast and a holder whose clock is so slow, 0.01 being 1 %:
//
//	(fast + slow)/(1 + fast)
//
// A validity ends (ttl − allowance)/(1 − slow) after the request for it, and no key
// expires sooner than ttl/(1 + fast) after it.
func NeededAllowance(fast, slow float64) float64 { return (fast + slow) / (1 + fast) }

// NeededForStep returns the least allowance, as a share of the TTL, that covers a step
// forward of the nodes' clocks within a lease, as a share of the TTL: as much. Of several
// steps in one lease it is their sum.
func NeededForStep(by float64) float64 { return max(by, 0) }

// Overlap returns how long a holder believes in its lease beyond the end of its keys,
// counted from when each was asked for; below 0 the allowance covers what clocks do.
// by is a step forward of the nodes' clocks while the lease lives.
func Overlap(ttl, allowance time.Duration, fast, slow float64, by time.Duration) time.Duration {
	ends := float64(ttl-allowance) / (1 - slow)
	expires := float64(ttl-by) / (1 + fast)
	return time.Duration(ends - expires)
}

// Granted returns the probability that a rival is granted the lock within an overlap: the
// request for the key had taken way to the nodes, and the rival's reply takes as long;
// the key lives on for up to grain, the unit of expiry, and the rival asks within step of
// its end. Both are uniform, and what is left of the overlap has to be more than their sum.
func Granted(overlap, way, grain, step time.Duration) float64 {
	x, a, b := (overlap - 2*way).Seconds(), grain.Seconds(), step.Seconds()
	switch {
	case x <= 0:
		return 0
	case x >= a+b:
		return 1
	}
	square := func(x float64) float64 { return max(x, 0) * max(x, 0) }
	// Near a+b the difference of squares is rounded, to a little over 1.
	return min((square(x)-square(x-a)-square(x-b))/(2*a*b), 1)
}
