// Package tune recommends settings of a lock for what an operator knows and wants: TTL, drift
// factor, node timeout, retry delay, extension interval and restart delay ([Advise]).
//
// A [Question] says what is known ([Known]) and wanted ([Wanted]). An [Advice] has the
// recommended [Setting], what each figure rests on and how sure it is, whether the lock needs fences, the
// Pareto front, and the runs that validated the setting; or the reason why no setting meets the wishes.
//
// # Exact, under what is known
//
// ρ is the bound of clock rates, s the largest step of a wall clock, T the TTL, a the
// allowance (T × drift factor + 2 ms). All clocks are at their bounds, in the worst direction.
//
//   - [Clocks.DriftFactor]: a holder's validity (T − a)/(1 − ρ) ends before its keys, (T − s)/(1 + ρ)
//     after they were set, if a ≥ T − (T − s)(1 − ρ)/(1 + ρ). The 2 ms cover the milliseconds in which Redis counts.
//   - [Clocks.NeededRestartDelay]: a node without its keys stays away for (1 + ρ)(T − a)/(1 − ρ) from the crash
//     on, plus s if a wall clock counts it. T(1 + ρ) + s is recommended.
//
// # Modelled
//
// A late holder works on after its validity. Its probability is an upper bound, up to a fifth too high if holds have
// one length, up to twice if their lengths differ by orders of magnitude, and more with extensions: each kind of pause
// comes at a constant rate from the request for a lease on, with independent lengths, so their sum is a compound Poisson
// variable, computed by Panjer's recursion (ASTIN Bulletin 12, 1981) on a grid of 256 cells; extensions with their
// retries, and a read and a write of the resource, are added. A pause that begins in a round trip beyond the 99th
// percentile is added to first order. Beyond the longest of n samples the probability is 3/n, which they leave open at
// 95 %. A late holder counts as a violation of effect exclusion: somebody always waits.
//
// # Measured, in the simulator
//
// Acquire p99 is the time from when a client wants the lock and nobody has it to its grant. Each timing (node
// timeout and retry delay) is scouted. Runs with other seeds validate the recommendation: everyday measures p99
// and counts violations; edge tests drift factor and restart delay, with too early as its control. Everyday has
// as many runs as fit into 20 million requests; if not even two fit, [Advice.Unvalidated] says so. A
// contradicted setting is dropped for the next.
//
// # The choice
//
// Among the settings that meet all wishes with headroom (half of the downtime and of the
// violations, four fifths of p99), or otherwise just so, these are preferred, in this order:
// no extension, since an extension needs something running in the background; the shortest
// TTL of 1, 1.5, 2, 3, 5 and 7 times powers of ten, since a dead holder blocks the others for
// that long; the longest retry delay, which causes the fewest requests; the shortest node timeout.
package tune
