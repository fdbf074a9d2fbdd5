// Package redisnode makes [env.Nodes] out of independent Redis masters, by way
// of go-redis. It is the transport of package redlock in production:
//
//	nodes, err := redisnode.New([]string{"10.0.0.1:6379", "10.0.0.2:6379", "10.0.0.3:6379"}, redisnode.Options{})
//	...
//	defer nodes.Close()
//	mutex, err := redlock.New(redlock.Defaults(10*time.Second), env.System(), nodes, nil)
//
// A node is a master of its own: no replica, no cluster member, no proxy in
// front of several. The package knows no lock; it carries one command to one
// node and tells what became of it. It differs from a plain go-redis client in
// what would break a lock:
//
//   - A request is sent once. A second SET NX after a lost reply would report
//     a key that is ours as somebody else's.
//   - A request is answered as soon as its reply has been read, whatever becomes of those that
//     went out with it.
//   - A request ends at the instant that its caller gave, or a millisecond
//     later, whatever it is waiting for: a connection, a handshake, a reply.
//   - A server that refuses a connection (too many clients, protected mode, a password) has
//     failed, with its own words as the error: nothing was sent to it. Go-redis would send
//     the request all the same, and report it as lost.
//   - A connection that gets ready too late for its request is kept for the next.
//     Go-redis would throw it away, and with many of them never hear of a node again.
//   - A node that was down is usable as soon as it is back. The pool of
//     go-redis would refuse to dial for up to a second after repeated failures.
//   - A time to live is a whole number of milliseconds, at least one: go-redis
//     would round others, and turn 0 into a key that never expires.
//
// Tried on Redis 7.0.15; HELLO came with 6.0. A user of the servers needs the commands
// HELLO, SET, GET, DEL, PTTL, PEXPIRE, EVAL and EVALSHA, on the keys with the prefix, and
// INFO, for a quarantine and to tell nodes apart; SELECT with a database; SETNX and INCR are
// asked by locks of package locks only. A
// server must not evict keys: maxmemory-policy noeviction, the
// default. One that may come back without its keys (no append-only file, or
// appendfsync everysec) has to stay away for longer than the longest time to
// live, or every client needs a quarantine.
//
// Nodes have to be different servers. Two addresses of one server, by name and by number, say,
// are found out by its run_id (INFO server), which is asked for on each new connection: the
// node that is met later is refused, with [ErrSameServer]. Of a user without the right to INFO
// that is not known, and only the addresses are compared. A server that was cloned while it
// ran, with its whole machine, has the run_id of the original, and is refused beside it until
// one of them has been restarted.
//
// A broken TLS connection is found out only by the request that uses it, which
// is then lost; a plain one is looked at before it is used.
//
// A request goes to a node at once while no other is under way to it. Those that
// come meanwhile wait for the answer, and then go out together over one
// connection: many clients share what a message costs, and one alone waits for
// nobody. Each request keeps its own end all the same, and a node that does not
// answer holds nobody up: what waits goes out over another connection after a
// few milliseconds. [Options.Abreast] turns this off, or makes it rarer. Where a node has
// answered nothing twice in a row one request at a time is sent to it, one waits, and
// others are refused at once, which a lock counts as a node that has failed.
//
// Two requests to one node can travel on different connections and may overtake
// each other: a delete can arrive before the SET that it is meant to undo.
package redisnode
