// Package wire is the network between clients and servers: one link for each client
// and node, so that one client can be cut off from a node that another one reaches. Links
// are TCP proxies on loopback, in our process ([Open]), or in memory
// ([OpenInMemory]), where no socket is needed.
//
// What travels over a link is subject to the rules that faults have imposed on
// its [Direction], which can hold messages back and delay them. A
// message is what a client or a server writes at once. It behaves as a TCP connection over
// a bad network does: bytes are never lost, changed or reordered, only late, and the
// end of a connection travels behind its last byte, on the same terms.
//
//   - A request that is held back has no effect until it is let through, and
//     then has it, even if its sender has long closed the connection.
//   - A reply that is held back belongs to a request that did take effect.
//   - Making a connection is not held back, nor does it take time: the link
//     answers for the node. What is sent over the new connection is. A node that is
//     down refuses a connection at once, over a cut link too; where a proxy has
//     accepted it, it ends it.
//
// Toxiproxy's own toxics do less: "timeout" drops what it should hold back,
// "latency" jitters without a seed, and adding one to a connection whose writer
// has just failed can block for ever. So every connection has, from its beginning,
// one toxic of ours, the [faultToxic], and it is never removed.
package wire
