// Package address is the world of package live over Redis servers that are somebody
// else's: a staging cluster of independent masters, say, that is there anyway.
//
//	b := Backend{Addrs: addrs, Connect: redisnode.Options{Username: "locker", Password: secret}}
//	world, err := b.Open(ctx, setting, seed, sink)
//
// # What is done to the servers
//
// Clients set, read and delete keys that begin with a prefix of this run alone,
// lockstorm: and some letters, and the scripts of package redisnode go through EVAL.
// Nothing else is written: no server is configured, flushed, stopped or told to fail, and
// the faults that there are befall messages and clients, in proxies in this process.
//
// What is left: nothing but a few scripts in the server's script cache, which it forgets
// when it restarts; no command takes back a single one. At the end the keys are deleted,
// over connections past the proxies: SCAN with the prefix, a thousand places at a time,
// over the whole of the database that was chosen, and UNLINK. Each key has a time to live
// besides: that of the lock, and for those that locks give none (the counters of fences,
// what SETNX sets before PEXPIRE comes) [Afterlife] longer than the run may last. So they are gone soon even if
// this program is killed, or cannot reach a server at the end; of the second it tells.
//
// # What it asks of them
//
// A user needs the commands HELLO, INFO, SET, GET, DEL, UNLINK, PTTL, PEXPIRE, INCR, EVAL,
// EVALSHA and SCAN, and SELECT for another database than 0, on keys lockstorm:*. Package
// vetting looks at each before every run, and they are watched while it lasts: a
// server that is started again, follows another one or does not answer meanwhile ends the
// run with an error, for nobody could tell that from a fault of the plan.
//
// Nodes of a Redis cluster, and masters that a Sentinel may replace, are out of scope: a
// node of Redlock is a server by itself. The first are refused; the second cannot be told
// from others as long as they are masters.
package address
