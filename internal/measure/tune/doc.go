// Package tune recommends settings of a lock for what an operator knows and wants: TTL, drift
// factor, node timeout, retry delay, extension interval and restart delay ([Advise]).
//
// A [Question] says what is known ([Known]) and wanted ([Wanted]). An [Advice] has the
// recommended [Setting], what each figure rests on and how sure it is, the Pareto front, and
// the runs that validated the setting; or the reason why no setting meets the wishes.
//
// # Exact, under what is known
//
// ρ is the bound of clock rates, s the largest step of a wall clock, T the TTL, a the
// allowance (T × drift factor + 2 ms). All clocks are at their bounds, in the worst direction.
//
//   - Drift factor: a holder's validity (T − a)/(1 − ρ) ends before its keys, (T − s)/(1 + ρ)
//     after they were set, if a ≥ T − (T − s)(1 − ρ)/(1 + ρ). Without steps that is
//     a/T ≥ 2ρ/(1 + ρ). The 2 ms are not used for it: they cover the milliseconds in which
//     Redis counts. See [Clocks.DriftFactor].
//   - Restart delay, if a node returns without its keys: (1 + ρ)(T − a)/(1 − ρ) from the crash
//     on, by the clock that counts it, plus s if that is a wall clock. T(1 + ρ), which is
//     recommended, is no less, since a covers ρ. See [Clocks.RestartDelay].
//   - Slack, the time left for pauses: T − a − node timeout − hold. For a lock that is extended
//     every e: T − a − margin − e − two node timeouts, within which a late extension still has
//     to succeed.
//   - Pauses that are never longer than the slack do no harm.
//   - If the resource checks fences on reads and writes, a late holder does no harm.
//
// # Modelled
//
//   - The risk of a grant: violations of effect exclusion by a holder that does not look at a
//     clock, because another client may have read what it is about to write. It is an upper
//     bound: somebody always waits, and a crashed node is always one that the holder needs.
//     So is the share of late holds. Both can be a fifth too high.
//     Pauses come at a constant rate from the request for a lease on, with independent lengths:
//     their sum is a compound Poisson variable, computed by Panjer's recursion (ASTIN Bulletin
//     12, 1981) on a grid of 256 cells. A read and a write of the resource, each a round trip,
//     are added.
//   - Extensions that fail in a row, because round trips exceed the node timeout (independently
//     of each other), or because a majority of the nodes is down.
//   - Availability: the share of the time in which a majority of the nodes is up and no key of
//     a dead holder has still to expire. The checker measures another one: it counts the time
//     of an acquire as an outage, and depends on how long clients hold.
//
// What lies beyond the largest of n samples is unknown. For pauses its probability is taken
// to be 3/n, what n samples leave open at 95 %, up to the stated max. Without a max no wish
// below that can be met.
//
// # Measured, in the simulator
//
// Acquire p99 is the time from when a client wants the lock and nobody has it to its grant,
// including competition, split votes and retry delays. While somebody else holds the lock, no
// setting helps. Each timing (node timeout and retry delay) is scouted.
//
// A recommendation is validated by runs with other seeds than those that chose it:
//
//   - everyday: the clients as stated, clocks at their bounds, pauses and crashes at their
//     rates. It measures p99, with an interval, and counts violations.
//   - edge: a holder with a bare quorum keeps the lock to the last instant, with clocks at
//     their bounds. Nodes step, while another client asks all the time. Any violation contradicts
//     the setting.
//   - restart: edge, but nodes crash as soon as the last lease has begun, and return after the restart
//     delay: later in a lease a shorter delay would do. Under aof-everysec and aof-always they lose
//     power, so that under aof-everysec the key, which is not synced yet, is lost. Any violation
//     contradicts the setting.
//   - too early: the control of restart. Nodes return a little before the delay that is needed; under
//     aof-always, where none is, they also lose their keys. If no run violates exclusion, the trials do
//     not test what they should, which contradicts the setting too.
//   - slips: holders are paused far more often, with a TTL short enough that the model predicts
//     one violation in four runs. More than predicted contradicts the setting. A bounded pause
//     is tried at its bound, with the recommended TTL.
//
// Requests cost time, and clients that hold the lock for an hour send many. Everyday and slips
// have as many runs as fit into 20 million requests. If not even two fit, the trial is
// skipped, and [Advice.Unvalidated] says so.
//
// With [Options.Estimate], multilevel splitting also estimates how many of the longest holds are late
// because of pauses: see [LateHolders].
//
// So few runs cannot measure violations per 10⁹ grants: if none of n is violated, 3/n is
// excluded at 95 %. The figure comes from the model, whose arithmetic the slips check. That
// pauses are as stated is up to the operator. A contradicted setting is dropped for the next.
//
// # The choice
//
// Among the settings that meet all wishes with headroom (half of the downtime and of the
// violations, four fifths of p99), or otherwise just so, these are preferred, in this order:
// no extension, since an extension needs something running in the background; the shortest
// TTL, since a dead holder blocks the others for that long; the longest retry delay, which
// causes the fewest requests; the shortest node timeout.
//
// The package accesses no network. Measured round trips are passed in as samples.
package tune
