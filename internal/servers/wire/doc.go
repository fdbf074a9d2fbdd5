// Package wire is the network between clients and servers. It has one link for each client
// and node, so that one client can be cut off from a node that another client reaches.
// Links are TCP proxies on loopback in this process ([Open]), or in memory without sockets
// ([OpenInMemory]). A network can also connect the members of a cluster, each of which is then a client
// and a node.
//
// Faults impose rules on a [Direction] of a link, which hold messages back or delay them. A
// message is what a client or a server writes at once. A link behaves as TCP over a bad
// network does: bytes are never lost, changed or reordered, only late. The end of a
// connection is subject to the same rules, and arrives after the last byte.
//
//   - A request that is held back has no effect until it is let through. It then takes
//     effect even if its sender has closed the connection.
//   - A reply that is held back belongs to a request that has taken effect.
//   - Connecting is neither held back nor delayed, because the link answers for the node.
//     What is sent over the new connection is. A node that is down refuses a connection at
//     once, even over a cut link; a proxy accepts the connection and closes it. A link can do the
//     same for a server that has just been started ([Link.Refuse]).
//
// Toxiproxy's own toxics do less: "timeout" drops what it should hold back, "latency"
// jitters without a seed, and adding a toxic to a connection whose writer has just failed
// can block for ever. So every connection has one toxic of this package, the [faultToxic],
// from its beginning to its end.
package wire
