package series

import (
	"math"
	"time"
)

// PlainRisk returns the probability that a restart after a delay breaks lease exclusion:
//
//	max(0, 1 − (delay + back)/validity)
//
// The holder has a bare quorum to the end of its validity, a node of which crashes at an
// instant that is uniform over it. A rival is granted the lock back after the node returns.
// That is before the end of the validity if the crash came in its first validity − delay −
// back.
func PlainRisk(delay, validity, back time.Duration) float64 {
	return share(validity-delay-back, validity)
}

// ExtendedRisk is [PlainRisk] for a holder that extends at intervals of every, each time for
// the same validity:
//
//	1                                  while delay + back ≤ validity − every
//	(validity − delay − back)/every    from there on
//	0                                  from delay + back = validity on
//
// At the crash the last extension is between 0 and every old, and no later one succeeds. If
// every is the validity, it is PlainRisk.
func ExtendedRisk(delay, validity, back, every time.Duration) float64 {
	return share(validity-delay-back, every)
}

// UnsyncedRisk is [PlainRisk] for nodes that lose power together, and that sync at intervals
// of sync (1 s with aof-everysec), each at times of its own. A vote of age v is lost with
// probability q = 1 − v/sync, and never if it is older than sync. At least needed of the nodes
// have to lose theirs: a binomial tail, integrated over the ages up to x = validity − delay −
// back, and divided by the validity. For a single node that is
//
//	(x − x²/(2 sync))/validity    where x ≤ sync; beyond, as at x = sync
func UnsyncedRisk(delay, validity, back, sync time.Duration, nodes, needed int) float64 {
	x := min(max(validity-delay-back, 0), sync)
	lost := func(v float64) float64 { return atLeast(nodes, needed, 1-v/sync.Seconds()) }
	return integral(lost, x.Seconds()) / validity.Seconds()
}

// atLeast returns the probability that at least k of n events happen, each with probability p.
func atLeast(n, k int, p float64) float64 {
	sum, ways := 0.0, 1.0 // to choose i of n
	for i := range n + 1 {
		if i >= k {
			sum += ways * math.Pow(p, float64(i)) * math.Pow(1-p, float64(n-i))
		}
		ways = ways * float64(n-i) / float64(i+1)
	}
	return min(1, sum)
}

// integral integrates a smooth function from 0 to x, by Simpson's rule.
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

// share returns part/whole, limited to 0 to 1.
func share(part, whole time.Duration) float64 {
	return min(max(part.Seconds()/whole.Seconds(), 0), 1)
}

// SafeDelay returns how long after a crash a node that returns without its keys can do no
// harm:
//
//	(1 + fast)(ttl − allowance)/(1 − slow)
//
// ttl is the longest time to live that any acquire or extension asks for, and allowance what
// the lock subtracts from it. slow, below 1, is how slow the clock of a holder may be: a
// validity ends (ttl − allowance)/(1 − slow) after the request at the latest. fast is how fast
// the clock may be that counts the delay. The clocks by which the nodes expire keys do not
// matter, since an empty node has none.
//
// It counts from the crash, the latest time of a vote. It ignores two delays that make it
// safer still: from the request to the vote, and of the rival's grant.
func SafeDelay(ttl, allowance time.Duration, slow, fast float64) time.Duration {
	return time.Duration((1 + fast) * float64(ttl-allowance) / (1 - slow))
}

// ClockRule is the rule of thumb ttl (1 + fast). It is enough if the allowance covers the
// holder's clock, allowance/ttl ≥ slow, because [SafeDelay] is then at most that.
func ClockRule(ttl time.Duration, fast float64) time.Duration {
	return time.Duration((1 + fast) * float64(ttl))
}

// DriftRule is the rule of thumb ttl (1 + factor), with the lock's drift factor. It is enough
// if (1 + fast)(1 − allowance/ttl) ≤ (1 + factor)(1 − slow), which is about fast + slow ≤ 2
// factor.
func DriftRule(ttl time.Duration, factor float64) time.Duration {
	return time.Duration((1 + factor) * float64(ttl))
}

// Renewal is a holder of a bare quorum that extends.
type Renewal struct {
	TTL      time.Duration // of the keys, at the grant and after each extension
	Validity time.Duration // of the lease, at the grant and after each extension
	Every    time.Duration // from one extension to the next
	Timeout  time.Duration // delay of the next extension if a node does not reply
	Done     int           // extensions before the crash
}

// Unsynced is [ExtendedRisk] for a node that loses power and syncs at intervals of sync, as in
// [UnsyncedRisk]. It returns with the key as of its last sync: with the expiry of the
// extension before, or of an earlier one, or without the key. The holder's first extension
// after the return repairs that if the older expiry has not passed. So a node that returns at
// once is often repaired, and one that stays away for long is not: the probability grows with
// the delay, up to near the safe one.
//
// The last extension is w old at the crash, uniform from 0 to Every, and the last sync came
// between the k-th and the (k−1)-th extension before, with probability Every/sync for each k.
// Exclusion is violated if
//
//   - the rival is granted the lock in time, delay + back < Validity − w,
//   - the last extension is lost, k ≥ 1,
//   - and the older key has expired when the holder first extends after the return, at jEvery
//     − w + (j−1)Timeout: TTL − w − kEvery is no later than that.
//
// The result is a mean over samples of w.
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

// harmless returns how old the last sync may be at the crash for the lease to be repaired.
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

// NeededAllowance returns the least allowance, as a share of the TTL, that covers nodes with
// fast clocks and a holder with a slow one, 0.01 being 1 %:
//
//	(fast + slow)/(1 + fast)
//
// A validity ends (ttl − allowance)/(1 − slow) after the request, and no key expires before
// ttl/(1 + fast) after it.
func NeededAllowance(fast, slow float64) float64 { return (fast + slow) / (1 + fast) }

// NeededForStep returns the least allowance that covers a step forward of the nodes' clocks
// within a lease, both as shares of the TTL: as much. Several steps in one lease add up.
func NeededForStep(by float64) float64 { return max(by, 0) }

// Overlap returns how long the holder relies on its lease after its keys have expired, both
// counted from the request. It is negative if the allowance covers the clocks. by is a step
// forward of the nodes' clocks during the lease.
func Overlap(ttl, allowance time.Duration, fast, slow float64, by time.Duration) time.Duration {
	ends := float64(ttl-allowance) / (1 - slow)
	expires := float64(ttl-by) / (1 + fast)
	return time.Duration(ends - expires)
}

// Granted returns the probability that a rival is granted the lock within an overlap. The
// request for the key took way to the nodes, and the rival's reply takes as long. The key
// lives on for up to grain, the unit of expiry, and the rival asks within step of its end.
// Both are uniform, and their sum has to be less than the rest of the overlap.
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
