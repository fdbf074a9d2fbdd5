// Package container is the world of package live over Redis in containers, one for each
// node, by testcontainers.
//
//	world, err := Backend{Image: "redis:7"}.Open(ctx, setting, seed, sink)
//
// Without an image it builds one from nothing but the redis-server of this machine and
// the libraries that it needs, so that no registry is asked for anything.
//
// A crash is a container that is killed, and started again with the files that it had;
// a pause is its control group's. The network between clients and servers is that of
// package wire, in this process, as for any other servers: a container that is
// disconnected from its network would not be cut off from one client and within reach of
// another, and its port would be open all the same, with a proxy of the engine behind it
// that answers for it.
//
// Where a plan takes the power of a node, or takes it back to an old state, its server
// works in a directory that the container shares with us. Where it lets a node fail over,
// the node's containers have the network of this machine, for a replica has to reach its
// master over a link of ours.
//
// # Loopback
//
// Containers publish their port on 127.0.0.1, or bind it there, at a number that stays
// theirs, and the engine is spoken to over a socket of this machine. Testcontainers, where it takes
// itself to be in a container, would have the engine's gateway dialled: it is told not
// to, asked where it would go, and whatever we dial ourselves refuses any other address.
//
// # The end
//
// Close removes the containers. When the program dies without a word, a shell process
// that has waited for this moment does (package reaper): it knows their names before
// they are there. The image that was built goes with the program, in the same way. An
// image that a user names is left, also if it had to be pulled. Everything bears the
// label "lockstorm".
//
// It runs on Linux only.
package container
