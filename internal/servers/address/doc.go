// Package address runs experiments on Redis servers of the user: a world of package live
// over independent masters at given addresses, such as a staging cluster.
//
//	b := Backend{Addrs: addrs, Connect: redisnode.Options{Username: "locker", Password: secret}}
//	world, err := b.Open(ctx, setting, seed, sink)
//
// # What is done to the servers
//
// Clients set, read and delete keys that begin with a prefix of their own run: "lockstorm:"
// and ten letters. The scripts of package redisnode run through EVAL. Nothing else is
// written. No server is configured, flushed, stopped or made to fail; all faults affect
// messages and clients, in proxies in this process.
//
// With [Backend.WatchKeys] each server also has a replica: see package keywatch.
//
// Nothing stays on the servers except scripts in the script cache, which a server forgets
// when it restarts; Redis cannot delete a single script. At the end of a run the keys are
// deleted over connections that bypass the proxies: SCAN with the prefix over the chosen
// database, 1000 entries at a time, and UNLINK. Each key also has a time to live. Keys to
// which locks give none (counters of fences, and keys between SETNX and PEXPIRE) live
// [KeyGrace] longer than the run may last. So all keys are gone soon even if this program
// is killed, or if a server cannot be reached at the end, which is reported.
//
// # What the servers have to allow
//
// A user needs the commands HELLO, INFO, SET, GET, DEL, UNLINK, PTTL, PEXPIRE, INCR, EVAL,
// EVALSHA and SCAN, and SELECT for a database other than 0, on keys lockstorm:*. Package
// preflight checks each command before every run. During the run the servers are monitored:
// if one is restarted, becomes a replica or does not reply, the run ends with an error,
// because this could not be told from a fault of the plan.
//
// Nodes of a Redis Cluster and masters that a Sentinel may replace are not supported,
// because a node of Redlock is an independent server. The former are rejected. The latter
// cannot be recognised while they are masters.
package address
