// Package drift is the sweeps of how wrong clocks may be, with the formulas for it.
//
// A lease is counted twice: by the holder, who gives away an allowance of the TTL, and by
// the nodes, which let their keys expire. If the holder's clock is slow, or the nodes' are
// fast or are set forward, the keys can be gone before the holder's validity ends, and
// another is granted the lock. [Map] is the probability of that, over how wrong the clocks
// are and how much is set aside, and [Covering] the line where the allowance begins to
// cover it.
//
// # What is assumed
//
//   - The holder holds to the last instant of its validity, on all nodes, and a rival asks
//     every millisecond. Holders who end sooner, and rivals who are elsewhere, are safer:
//     these are the odds of a grant that is put to the test.
//   - All nodes are wrong alike, and all the time. What counts is the fastest majority of
//     them, or as many as the holder's votes can spare; fewer do no harm.
//   - Rates are those between true time and the clock; a step comes in the middle of the
//     lease. Nodes expire keys by their wall clock, and the holder counts on a clock that
//     is not stepped, the monotonic one, so that only the nodes' steps matter.
//   - The network takes the same time for each message, so that the little that is on the
//     holder's side beside the allowance is known: the request takes a while to come to the
//     nodes, the key lives to the end of its millisecond, the rival asks a while later, and
//     its grant takes another while. All that comes to [Reach] at most, 0.22 % of the TTL:
//     so far beyond the line the probability goes from 0 to 1.
package drift
