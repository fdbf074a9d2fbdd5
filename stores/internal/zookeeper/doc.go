// Package zookeeper runs the members of a ZooKeeper ensemble as processes of this machine,
// and connects clients to it.
//
//	fleet, err := Open(ctx, setting, seed)
//	...
//	world, err := live.Open(setting, seed, sink, fleet, Handlers)
//
// A session of [env.Store] is a session of ZooKeeper, with a connection of its own. An entry
// is a znode: an ephemeral one if it belongs to a session. Its revision is its mzxid. A
// key is a path without the first slash; parents are created when they are needed, and stay.
// Rows with a TTL and lock-delays do not exist in ZooKeeper.
//
// # Reads
//
// A member answers reads from what it has applied, which may be old. So a write comes before
// each list, and before the answer that an entry is gone: it sets the data of the root, on the
// same connection. A member acknowledges it when a quorum has committed it, and the member has
// applied everything before it. A heartbeat is such a write too.
//
// The sync request of ZooKeeper does not suffice. A leader that was stopped, and replaced
// meanwhile, acknowledges one when it continues, before it notices that it leads no more. A
// plain read, which would do for a heartbeat in ZooKeeper's own clients, is answered even by
// a follower whose leader is stopped.
//
// # Differences from the simulated store
//
//   - A session lasts at least 400 ms. Its end is rounded up to a multiple of the tick, 200 ms.
//
//   - A member reports to the leader which sessions are alive when the leader asks, twice a
//     tick. So the time of a session may count from up to half a tick before the heartbeat
//     was acknowledged. If the leader was stopped, and continues before it is replaced, the time
//     of the stop counts as well: a session can end although a heartbeat was acknowledged just
//     now. The library's own pings only make a session longer. They would keep it alive for
//     ever: so its connection is closed when the client has not sent a heartbeat for the TTL.
//
//   - Followers leave a leader that is stopped, or cut off, after five ticks, and a leader without
//     followers stops serving then. Until then it does not reply to writes. The setting's election and
//     commit are ignored.
//
//   - Heartbeats and lists make the revision grow. Numbers of sequential keys count the changes
//     of their parent, not of the store.
//
//   - A list reads the children of one parent, and not what is below them.
//
//   - The revision is compared before a deletion or an update, and then the version: a key that is
//     deleted and created anew at the same time may be deleted or updated wrongly. Keys of the lock
//     recipe are unique, and the record of a lease is never deleted.
//
//   - Members do not sync their log, which is not the default: five of them share a disk, and no fault
//     cuts power.
//
// # Links between members
//
// Each member has a configuration of its own, which names a proxy for each of the others. Of two
// members the one with the higher id connects for elections. If the other one does, the first connects
// back to the address in the message that it got. The proxies leave that address out, as members of
// earlier versions do, so that the member uses the one in its configuration.
//
// Clocks of members cannot be set: no libfaketime is loaded into the JVM. Sessions are timed
// by the monotonic clock anyway.
package zookeeper
