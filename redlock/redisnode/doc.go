// Package redisnode implements [env.Nodes] on independent Redis masters, with go-redis. It is the
// transport of package redlock in production:
//
//	nodes, err := redisnode.New([]string{"10.0.0.1:6379", "10.0.0.2:6379", "10.0.0.3:6379"}, redisnode.Options{})
//	...
//	defer nodes.Close()
//	mutex, err := redlock.New(redlock.Defaults(10*time.Second), env.System(), nodes, nil)
//
// A node is an independent master: not a replica, not a cluster member, not a proxy in front of
// several servers. The package does not know about locks. It sends one command to one node and
// reports the outcome. It differs from a plain go-redis client where that would break a lock:
//
//   - A request is sent once. A second SET NX after a lost reply would report our own key as
//     somebody else's.
//   - A request is answered as soon as its reply has been read, whatever happens to the rest of
//     its batch.
//   - A request ends at its deadline, or a millisecond later, whatever it is waiting for: a
//     connection, a handshake, or a reply.
//   - A server that refuses a connection (too many clients, protected mode, a password) counts as
//     failed, with the server's error: nothing was sent to it. Go-redis would send the request
//     all the same and report it as lost.
//   - A connection that is ready too late for its request is kept for the next. Go-redis would
//     discard it, and under many expiring requests would never reach the node again.
//   - A node that was down can be used as soon as it is back. After repeated failures the pool of
//     go-redis refuses to dial for up to a second.
//   - A TTL is a whole number of milliseconds, at least one. Go-redis rounds others, and turns 0
//     into a key that never expires.
//
// # Servers
//
// The package is tested with Redis 7.0.15 and needs HELLO, so Redis 6.0. The user needs the
// commands HELLO, SET, GET, DEL, PTTL, PEXPIRE, EVAL and EVALSHA on the keys with the prefix;
// INFO for a quarantine and to tell servers apart; SELECT for a database. Some of the
// compared locks also need SETNX and INCR. A request that allows native commands
// ([env.Command.Native]) uses DELEX, DELIFEQ and SET with IFEQ if the version of the server has
// them, and a script where they are rejected. A server must not evict keys (maxmemory-policy
// noeviction, the default). A server that can restart without its keys (no append-only file, or
// appendfsync everysec) has to stay away for longer than the longest TTL, or every client needs a
// quarantine.
//
// Nodes have to be different servers. Each new connection asks for the run_id (INFO server), so
// two addresses of one server, such as localhost and 127.0.0.1, are detected: the node that
// connects later is refused with [ErrSameServer]. For a user without the right to INFO only the
// addresses are compared. A server that was cloned while it ran, with its whole machine, has the
// run_id of the original, and is refused until one of the two restarts.
//
// A broken plain connection is detected before it is used. A broken TLS connection is not: the
// next request on it is lost.
//
// # Batches
//
// A request is sent at once while no other request to its node is under way. Requests that arrive
// meanwhile wait for the reply and are then sent together over one connection. So many clients
// share the cost of a message, and a single client never waits. Each request keeps its own
// deadline, and a node that does not reply holds no request up: waiting requests are sent over
// another connection after a few milliseconds. [Options.MaxInFlight] raises the number of
// batches under way, or turns batching off.
//
// A node that has not replied twice in a row gets one request at a time. One more request waits,
// and others are refused at once, which a lock counts as a failed node.
//
// Two requests to one node can use different connections, and the second can overtake the first:
// a delete can arrive before the SET that it has to undo.
package redisnode
