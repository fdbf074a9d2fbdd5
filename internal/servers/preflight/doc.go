// Package preflight checks whether a Redis server can be a node of a lock, and says in one
// line what is wrong if it cannot. [RoundTrips] measures how fast servers answer.
//
//	conns, err := OpenAll(ctx, addrs, redisnode.Options{Prefix: "mine:"})
//
// The check uses one connection. It asks the server who it is (HELLO, INFO) and then tries
// each command that a lock needs on one key of its own, which lives for some seconds and is
// deleted. A second connection is made only if the first one failed in a way that leaves
// open whether one side speaks TLS and the other does not.
//
// A server may change after the check. A [Conn] can be kept to check it again.
package preflight
