// Package live runs experiments on real servers, whoever runs those. It has one link for
// each client and node (package wire), and clients that are goroutines of this program or
// processes of their own. It implements the world that package runner needs, and knows
// neither the runner nor any lock. Backends give it a [Fleet] of servers and the handlers
// of the faults that those support.
//
//	world, err := Open(setting, seed, sink, fleet, Anywhere())
//	...
//	defer world.Close()
//	err = world.Run(ctx, func(client int) { work(world.Runtime(client), world.Nodes(client)) })
//
// A run cannot be repeated exactly: its plan and its history are stored and can be checked
// again, but not replayed. What faults and clients draw depends on the seed, in the order
// of the draws; which message gets which delay does not.
//
// # Time
//
// The ground clock is the machine's CLOCK_MONOTONIC, or that of the fleet's Runtime. Times
// in the history count from the beginning of Run. A client's clocks start as the machine's
// when the world is opened. They advance with the ground clock, and faults change them as
// in a simulated world. A request is given up when the client's clock, as it ran when the
// request was sent, says so. All other waits follow the clock as faults change it.
//
// # Clients as processes
//
// With [World.RunProcesses] each client is its own process. It runs the same lock on a [Remote]
// world with the same random numbers, and connects to the nodes over its links in this
// process. The guarded resource and the scheduler stay here and are asked over a pipe. The
// client stamps what it does with the same ground clock and reports it without waiting for
// a reply. When the run is over, the reports of all processes are sorted by their stamps
// and written to the history. Whoever acts because of what another has done has the later
// stamp. The clocks of a client are on a page of shared memory: the client sees a change at
// once, even if it was made while the client was stopped.
//
// # Faults
//
//   - crash: the server is killed without warning, and started again at the end. It loses
//     what it has not written. A Redis that syncs once a second replies before it writes
//     while a sync is under way; simulated nodes do not. The crash does not wait for the
//     write, as a real one would not. Connections break at once, and requests to a node
//     that is down fail at once.
//   - clocks of nodes: only the server's wall clock changes, by which its keys expire.
//   - faults of messages ([nemesis.Traffic]), such as partition, latency and split: bytes
//     are held back or delayed, see package wire. A request that is held back takes effect
//     after the fault, even if its sender gave it up long before. A reply that is held back
//     belongs to a request that has taken effect. New connections are accepted, but nothing
//     passes over them. A delayed reply also delays what follows on its connection. A fault
//     of the commands on one key only affects requests, because the key of a reply is not
//     known.
//   - peer-partition: the members of a store talk to each other through proxies as well ([PeerLinks]).
//     What they send over a cut link is held back until the end, unless they close the connection
//     before. A member that makes a new connection over a cut link gets one, and no reply.
//   - pause: each goroutine of the client stops when it enters or leaves a call of its
//     runtime, nodes, register or of Reach. Requests under way are not paused. A reply that
//     arrives in the meantime is seen first on resumption; one that arrives after its
//     request was given up is lost, unlike in a stopped process. A client in its own
//     process is stopped by SIGSTOP, and the fault begins when all its threads have
//     stopped. Replies wait in its sockets, and its own runtime decides whether it sees
//     them or the end of its time first.
//   - suspend and snapshot: a pause during which clocks of the client stand still.
//   - guard-latency: the access arrives later, even if the client has died.
//   - kill: a pause without end. A process is killed by SIGKILL, and its connections
//     break. The client adds nothing more to the history; what it has sent still arrives.
//   - cancel: the context of the client's current call ends. A paused client sees this
//     when it resumes. If the client is a process, the history records the cancellation
//     when the process has received it.
//
// A fault that is triggered by a step has begun or ended when Reach returns. An event that
// says something is down comes before it is down; one that says it is up comes after.
package live
