// Package tune finds settings of a lock for what an operator knows and wants: TTL, drift
// factor, node timeout, retry delay, extension interval and restart delay ([Advise]).
//
// A [Question] says what is known ([Known]) and wanted ([Wanted]). An [Advice] holds the
// recommended [Setting], what each of its figures rests on and how sure it is, the Pareto
// front, and what the runs showed that it was validated by; or the reason why no setting
// meets the wish.
//
// # Exact, under what is known
//
// With ρ the bound of clock rates, s the largest step of a wall clock, T the TTL, a the
// allowance (T × drift factor + 2 ms), all clocks as bad as they may be, each in the worst
// way:
//
//   - Drift factor: a holder's validity (T − a)/(1 − ρ) ends before its keys, (T − s)/(1 + ρ)
//     after they were set, if a ≥ T − (T − s)(1 − ρ)/(1 + ρ). Without steps that is
//     a/T ≥ 2ρ/(1 + ρ). The 2 ms are not used up for it: they are for the milliseconds in
//     which Redis counts. See [Clocks.DriftFactor].
//   - Restart delay, where a node comes back without its keys: (1 + ρ)(T − a)/(1 − ρ) from
//     the crash on, by the clock that counts it, and s more if that is a wall clock. T(1 + ρ)
//     is no less, since a covers ρ, and is what is recommended. See [Clocks.RestartDelay].
//   - Slack: what is left for pauses, T − a − node timeout − hold; of a lock that is extended
//     every e, T − a − margin − e − two node timeouts, in which an extension has to come
//     through that was sent late.
//   - A pause whose length is bounded, and no longer than the slack, does no harm.
//   - With a fence that the resource checks on reads and writes, a holder who is late does
//     none either, whatever becomes of leases.
//
// # Modelled
//
//   - The risk of a grant, violations of effect exclusion by a holder who looks at no clock:
//     somebody else may have read what it is about to write. It is an upper bound: as if
//     somebody always waited, and as if a crashed node were always one that the holder cannot
//     do without. Pauses come at a constant rate from the request for a lease on, their lengths are
//     independent: their sum is a compound Poisson variable, found by Panjer's recursion
//     (ASTIN Bulletin 12, 1981) on a grid of 256 cells. To it come a read and a write of
//     the resource, each a round trip.
//   - Extensions that fail one after another, as far as round trips exceed the node timeout
//     independently of each other, or a majority of the nodes is down.
//   - Availability: the share of the time in which a majority of the nodes is up and no key
//     of a dead holder has still to expire. It is not the share that the judges measure,
//     which takes the time of an acquire for an outage, and depends on how long people hold.
//
// What lies beyond the largest of n samples is not known: of pauses it is taken to be as
// probable as n samples leave open at 95 %, 3/n, up to the stated max. Without a max no
// wish that is below that can be met.
//
// # Measured, in the simulator
//
// Acquire p99 is the time from when a client wants the lock and nobody has it to its grant,
// competition, split votes and retry delays included; while somebody else holds the lock no
// setting helps. Each pair of node timeout and retry delay is scouted.
//
// What is recommended is validated by runs with other seeds than those that chose it:
//
//   - everyday: the clients as they are said to be, clocks at their bounds, pauses and crashes
//     at their rates. It measures p99, with an interval, and counts violations.
//   - edge: a holder with a bare quorum keeps the lock to the last instant, on clocks as bad as
//     they may be; nodes step, crash and are back after the restart delay, while another client
//     asks all the time. No violation may be seen.
//   - slips: holders that are paused far more often, under a TTL so short that the model
//     predicts one violation in four runs: what is measured may not exceed what it predicts. A
//     bounded pause is tried as long as it may be, under the recommended TTL.
//
// So few runs cannot measure violations per 10⁹ grants: with none in n, 3/n is what can be
// excluded at 95 %. The figure comes from the model, whose arithmetic the slips check; that
// pauses are as was stated rests on the operator. A setting that is contradicted is
// dropped for the next.
//
// # The choice
//
// Of the settings that meet all wishes with room to spare (half of what may be lost of
// availability, half of the violations, four fifths of p99), or if none does just so: without
// an extension if there is one, which needs nothing to run in the background; then the
// shortest TTL, for which a dead holder blocks the others; then the longest retry delay,
// which asks least of the nodes; then the shortest node timeout.
//
// The package knows no world but through storm, and neither files but those of a question nor
// networks: who measures round trips hands in samples.
package tune
