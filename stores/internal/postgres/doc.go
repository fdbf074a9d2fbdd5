// Package postgres runs PostgreSQL servers as processes of this machine, one primary and
// streaming standbys, fails over between them, and connects clients to the primary.
//
//	fleet, err := Open(ctx, setting, seed)
//	...
//	world, err := live.Open(setting, seed, sink, fleet, Handlers)
//
// An entry of [env.Store] is a row of a table, and its revision is drawn from a sequence. One that
// expires by itself is a lease of a job, taken by SELECT … FOR UPDATE SKIP LOCKED. A session
// is a connection to the primary, and its entries are advisory locks, of the session or of a
// transaction. Sessions with heartbeats, sequential keys and lock-delays do not exist.
//
// Replication is synchronous unless the setting says otherwise: a commit is answered when
// the primary and enough standbys for a majority have flushed it, or have written it
// (durability remote-write), or at once (off). With asynchronous
// replication, what the primary sends is delayed by the setting's commit time, and a
// failover loses what was on its way.
//
// # Failover
//
// PostgreSQL has no failover of its own. This package is the failover manager. When the
// primary is killed, shut down or stopped, the standbys are disconnected from it. After the
// setting's election time the running server with the most WAL is promoted. Elections need a
// majority, except with asynchronous replication. The servers that took part follow the new
// primary. All others may have WAL that it lacks, so they are rebuilt from it (pg_basebackup)
// before they serve again. A previous primary never serves as primary again without an
// election.
//
// If links between servers are cut (peer-partition), the replication over them stands still. A primary
// that does not reach a majority of the servers is restarted as a standby at once, before another one is
// elected among those that reach a majority: so does Patroni when a primary loses contact to the others.
// It is rebuilt when it reaches the new primary. Without that there would be two primaries. The old one
// would go on giving advisory locks, which are not replicated, and without synchronous replication rows
// and leases as well: TestTwoPrimaries shows two clients that hold the same lock.
//
// # Differences from the simulated store
//
//   - A primary whose standbys are down, so that it has no majority, is not deposed: its commits wait, its reads are answered.
//   - A transaction that waits for standbys is lost to its client if the client gives up, but
//     it is not cancelled: clients send no cancel requests, which would make it visible on the
//     primary alone.
//   - A primary that restarts before it is replaced shows the transactions that it had not
//     replicated.
//   - A sequence skips numbers, also after a crash: revisions have gaps. With asynchronous
//     replication a new primary can use revisions again that the last one had used.
//   - A plain bigserial column is numbered before its row is inserted, so a later holder of a
//     key can have a lower number than an earlier one. Here an advisory lock serializes
//     the creation of entries, and revisions increase in the order of creation.
//   - Only creations draw revisions.
//   - A clock that a fault freezes runs at a thousandth of its rate.
//   - StoreAwait polls.
//   - A lease ends by the primary's wall clock, and a failover does not prolong it.
//   - A client's keepalive probes never end a connection here, because the proxy in front of the
//     server answers them: the proxy does it, after the setting's KeepAlive.
//   - A primary without a majority goes on giving advisory locks, which are not replicated.
//   - Two keys with the same 64-bit hash have the same advisory lock.
//   - An idle transaction ends by the wall clock. With libfaketime the server reads the real time
//     in signal handlers, where it looks whether the transaction is idle for too long: if its
//     clock was stepped by more than the TTL, the transaction ends too early, or never.
//   - A failover loses what durability off keeps in memory for as long as PostgreSQL likes, up to
//     three times wal_writer_delay, which is the longest commit time.
//   - Advisory locks and leases are not in the log of changes, so they are not watched.
//   - A log of changes is part of the database, so a failover loses its end like that of the
//     entries. The watch reports what is lost when it has reached the new primary. An entry that
//     was created and lost in between is never reported.
//
// # Requirements
//
// PostgreSQL refuses to run as root. If this program is root, the servers run as the user
// postgres, who must be able to enter the directory for temporary files (TMPDIR).
package postgres
