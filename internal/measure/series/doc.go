// Package series defines the sweeps of this project, with formulas for what they measure: how
// long a node must stay away after it has lost its keys ([RestartDelay] and others), and how
// wrong clocks may be ([Drift]).
//
// # Restarts
//
// A node that loses its keys forgets its votes. If it votes again while a lease still rests
// on an earlier vote, a second client can be granted the lock. Redlock's page names a
// remedy, the delayed restart: the node stays away until every lease has ended that it may
// have voted for. [RestartDelay] measures the risk of a shorter delay, [RestartBoundary] from
// which delay on it is safe if clocks are wrong, [RestartDelayReference] the same on real
// servers, and [RestartDelayPrice] what the waiting costs.
//
// The probabilities are those of one grant that meets one crash. How often that happens is
// another question; most crashes meet no lease. They assume:
//
//   - The holder keeps the lock to the end of its validity. A holder that ends earlier is
//     safer.
//   - It is cut off from two of the five nodes, so that it needs each of the other three, and
//     one crash is enough. Where it reaches all five (the curves of k nodes) two nodes may
//     forget, and k crashes count only if they happen together.
//   - The crash is uniform over the validity, or over the time between two extensions. The
//     validity V is that at the grant: TTL − allowance − the duration of the grant.
//   - A rival asks soon after the node returns, and is granted the lock ℓ after the return. It
//     does not try earlier: it could not be granted, and leaves nothing behind that counts.
//   - Latency and retry delay are fixed, so that the mean of ℓ follows from the scenario. The
//     formulas are linear in ℓ, except within one retry of the rival (10 ms) around their
//     corners.
//
// A process that dies loses nothing that it has written. So with an append-only file, however
// it is synced, a crashed node returns with its keys and needs no delay. (Redis writes before
// it answers. That it may not do so under aof-everysec while a sync hangs is not simulated.)
// What persistence changes is a loss of power: with aof-always no acknowledged write is lost;
// with aof-everysec a vote is lost if no sync came between the vote and the loss. The TTL here
// is 1 s, as long as the sync interval: with a shorter TTL more votes are lost, with a longer
// one fewer. Disks that acknowledge a sync without writing are not considered.
//
// Under aof-everysec a longer delay can be worse. After a loss of power a holder that extends
// may find its key with the expiry of an earlier extension, and the next extension repairs
// that if it comes in time: a node that returns at once is a risk to a quarter of the leases
// here; after 0.65 of the TTL, to 85 % ([Renewal]).
//
// # Clocks
//
// A lease is counted twice: by the holder, who subtracts an allowance from the TTL, and by the
// nodes, which expire their keys. If the holder's clock is slow, or the nodes' clocks are fast
// or are set forward, the keys can expire before the holder's validity ends, and another
// client is granted the lock. [Drift] measures how probable that is, by clock error and
// allowance, and [NeededAllowance] is the allowance from which on it cannot happen. They
// assume:
//
//   - The holder keeps the lock to the end of its validity on all nodes, and a rival asks every
//     millisecond. Anything else is safer.
//   - All nodes are wrong by the same amount, all the time. What counts is the fastest majority
//     of them, or as many as the holder's votes can spare.
//   - Rates are relative to true time. A step comes in the middle of the lease. Nodes expire
//     keys by their wall clock and the holder counts on the monotonic clock, so only steps of
//     the nodes matter.
//   - Each message takes the same time. So what is on the holder's side beside the allowance
//     is known: the request's way to the nodes, the end of the key's millisecond, the rival's
//     retry, and its grant. It adds up to [DriftReach] at most, 0.22 % of the TTL: over that
//     distance from the line the probability goes from 0 to 1.
package series
