// Package vetting looks at a Redis server before an experiment trusts it with a lock, and
// says in one line what is wrong with it, if something is:
//
//	found, err := All(ctx, addrs, redisnode.Options{Prefix: "mine:"})
//
// A server is asked over one connection who it is (HELLO, INFO), and then for each command
// that a lock needs, on one key of our own that lives for some seconds and is deleted. A
// second connection is made only where the first one failed in a way that leaves open
// whether it is TLS that one side speaks and the other does not.
//
// The package knows neither locks nor experiments. Whether a server is fit may change
// afterwards; a [Conn] can be kept to look again.
package preflight
