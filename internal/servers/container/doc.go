// Package container runs experiments on Redis in containers: a world of
// package live with one container for each node.
//
//	world, err := Backend{Image: "redis:7"}.Open(ctx, setting, seed, sink)
//
// Without an image it builds one from the redis-server of this machine and the libraries it
// needs, so nothing is pulled from a registry.
//
// A crash kills the container and starts it again with the files that it had. A pause
// freezes its control group. The network between clients and servers is package wire, in
// this process, as for other servers. Disconnecting a container from its network would cut
// it off from all clients at once, and the engine's port proxy would still accept
// connections for it.
//
// If a plan contains power losses or old snapshots of a node, its server works in a
// directory that the container shares with this program. If a plan contains failovers of a
// node, the node's containers use the host network, because a replica has to reach its
// master over a link of package wire.
//
// # Loopback
//
// Containers publish their port on 127.0.0.1, or bind it there, at a number that stays
// reserved. The engine is reached over a Unix socket of this machine. This package dials
// loopback addresses only.
//
// # Clean-up
//
// Close removes the containers. If the program dies without Close, a shell process removes
// them ([child.Reaper]); it knows their names before they exist. The image that was built
// is removed in the same way when the program ends. An image that a user names stays, even
// if it was pulled. Everything has the label "lockstorm".
//
// Elsewhere than on Linux every start fails: ports cannot be reserved, nor containers removed after a crash.
package container
