package restart

import "time"

// Renewal is a holder of a bare quorum who extends.
type Renewal struct {
	TTL      time.Duration // of the keys, at the grant and by each extension
	Validity time.Duration // of the lease, from each
	Every    time.Duration // from one extension to the next
	Timeout  time.Duration // by how much later the next one comes if a node does not answer
	Done     int           // extensions before the crash
}

// Unsynced is [Extended] for a node that loses power and syncs at intervals of sync, as in
// the function [Unsynced]. It comes back with the key as of its last sync: under an expiry
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
