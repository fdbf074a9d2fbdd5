// Package restart is the sweeps of how long a node must stay away after it has lost its
// keys, with the formulas for it.
//
// A node that forgets its keys forgets votes. If it votes again while a lease lives that
// rests on its vote, a second client can be granted the lock. The remedy that Redlock's
// page names is a delayed restart: the node stays away until every lease has ended that it
// may have voted for. What is asked here is how long that is, what a shorter delay risks
// ([Delay]), where exactly it becomes safe if clocks are wrong ([Boundaries]), whether real
// servers say the same ([Reference]), and what the waiting costs ([Price]).
//
// # What is assumed
//
// The probabilities are those of one grant that meets one crash. How often that happens
// is another question; most crashes meet no lease, and cost nothing.
//
//   - The holder holds to the last instant of its validity. A holder who ends sooner is
//     safer.
//   - Its quorum is bare: three of five nodes, each of them needed, because it is cut off
//     from the others. Then one crash is enough. Where it reaches all five (the curves of
//     k nodes) two may forget, and with the third it is as if the quorum were bare: k
//     crashes count only if they come together.
//   - The crash comes at any instant of the validity, each as likely as the other. The
//     validity V is that at the grant: TTL − allowance − the time that the grant took.
//     With extensions, any instant between two of them.
//   - A rival asks soon after the return, and is granted ℓ after it. Before the return it
//     does not try: it could not be granted, and leaves nothing behind that counts.
//   - Latency and retry delay are fixed, so that ℓ is known: its mean follows from the
//     scenario (see the source), and the formulas are linear in ℓ but for a step of the
//     rival's, 10 ms, about their corners.
//
// # What persistence changes
//
// A process that dies loses nothing that it has written, so with an append-only file,
// however it is synced, a node that crashes is back with its keys, and no delay is needed
// (Redis writes before it answers; that it may not under aof-everysec while a sync hangs is
// not simulated). What persistence is asked about here is the loss of power, of which the
// crash of a process is the harmless half: with aof-always nothing is lost that was
// acknowledged; with aof-everysec the vote is gone if no sync came between it and the loss.
// A sync comes once a second, which is the TTL here: of a shorter TTL more is lost,
// of a longer one less. Beside each other stand a crash and a loss of power under
// aof-everysec; under aof-always a loss of power alone, since a crash asks for less.
// Disks that say they have synced and have not are none of this.
//
// Under aof-everysec a longer delay can be the worse one. Who extends may find its key
// again after a loss of power, under the expiry of an earlier extension, and the next
// extension mends that if it comes in time: at once back, the node is a risk to a quarter
// of the leases here; after 0.65 of the TTL, to 85 % ([Renewal]).
package restart
