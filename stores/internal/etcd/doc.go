// Package etcd runs the members of an etcd cluster as processes of this machine, and
// connects clients to it.
//
//	fleet, err := Store{}.Open(ctx, setting, seed)
//	...
//	world, err := live.Open(setting, seed, sink, fleet, Handlers)
//
// A session of [env.Store] is a lease, and the revision of an entry its mod revision.
// Reads are linearizable, which is etcd's default. Sequential keys, rows with a TTL and
// lock-delays do not exist in etcd.
//
// # Differences from the simulated store
//
//   - A lease lasts a whole number of seconds, at least one. A TTL is rounded up.
//   - The leader looks for leases that are over twice a second, so that a lease lasts up to
//     half a second longer than its TTL.
//   - A member that is cut off from the others does not notice it before its election timeout. Until
//     then it does not reply, and afterwards it replies that there is no leader.
//   - A new leader is elected when the followers have missed the old one for an election
//     timeout, which is fixed here: the setting's election is ignored.
//
// # Links between members
//
// All members have to know a member by the same URL, because the id of the cluster is a hash of these
// URLs. So there is one proxy in front of each member's port for peers, and it looks up which member has
// made a connection: the one whose process has the socket at the other end. What members send does not
// always say who sent it: probes and requests for the version do not.
//
// Clocks of members cannot be set: etcd is a Go program, whose clocks libfaketime does not
// reach. Its leases count on the monotonic clock anyway.
package etcd
