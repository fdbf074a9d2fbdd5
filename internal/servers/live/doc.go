// Package live is a world of real servers, whoever runs them: one link for each client
// and node, see package wire, and clients that are goroutines of this program, or processes of
// their own. It carries out what storm asks of a world, and knows neither storm nor any
// lock. Backends give it a [Fleet] of servers and say what can be done to these.
//
//	world, err := Open(setting, seed, sink, fleet, Anywhere())
//	...
//	defer world.Close()
//	err = world.Run(ctx, func(client int) { work(world.Runtime(client), world.Nodes(client)) })
//
// Nothing here repeats exactly: a run stores its plan and its history and can
// be judged again, not replayed. From the seed follow what faults draw, one after
// another, and what clients draw from their runtime; which message gets which delay
// does not.
//
// # Time
//
// The ground clock is the machine's CLOCK_MONOTONIC, or that of the machine which the fleet
// says it is on, and history times count from the begin of Run. A client's clocks are the
// machine's as they were when the world was opened; they run by the ground clock, and faults change them as they do in a simulated
// world. What is under way to a node is given up when the client's clock, as it ran when
// it was sent, says so; whatever else waits, waits by the clock as it runs.
//
// # Clients that are processes
//
// With [World.RunApart] each client is a process of its own, which runs the same lock on
// the same ports ([Remote]) with the same randomness. It talks to the nodes by connections
// of its own, over its links in this process; the guarded resource and the scheduler are
// here, and are asked by a pipe. What it does it stamps itself, with the same ground clock,
// and says without waiting for an answer; what has come from all processes is put in the
// order of its stamps when the run is over, and only then told. Whoever acts because of
// what another has done has a later stamp than that. How its clocks run stands on a page
// of memory that both have: it sees a change the moment it is made, even one that was made
// while it stood still.
//
// # What the faults are
//
//   - crash: the server is killed, without a word, and started again at the end. What
//     it has not written it has lost: a Redis that syncs once a second writes later than
//     it answers while a sync is under way, which simulated nodes do not. We do not wait
//     for it to have written, for a real crash would not.
//     Connections break at once, and a request to a node that is down fails at once.
//   - clocks of nodes: only a server's wall clock is touched, by which its keys live.
//   - whatever does nothing but to messages ([nemesis.Traffic]), as partition,
//     latency and split: bytes are held back, or take longer, see package wire. A
//     request that is held back takes effect after the end of the fault, even if
//     its sender gave it up long before; a reply that is held back belongs to a
//     request that took effect. New connections are still accepted, but nothing
//     comes of them. A reply that takes longer makes what is behind it on its
//     connection wait, and what a fault does to the commands on one key it does to
//     requests: of a reply nobody here knows the key.
//   - pause: the client's goroutines stand still as soon as each enters or
//     leaves a call of its runtime, nodes, register or of Reach. Its requests
//     under way are not paused: a reply that arrives in the meantime is seen
//     first on resumption, but one that arrives after its request was given up
//     is lost, other than in a stopped process. A client that is a process is
//     stopped, and the fault is there when all its threads stand still: a reply
//     that arrives meanwhile waits in its socket, and whether it sees that or the
//     end of its time first is for its own runtime to say.
//   - suspend and snapshot: as a pause, while clocks of the client stand still.
//   - guard-latency: the access arrives later, whatever has become of the client.
//   - kill: as a pause without end; of a process, SIGKILL, by which its
//     connections break. Nothing that the client says afterwards enters the
//     history; what it had sent goes its way.
//   - cancel: the context of the call that the client has under way ends. If the
//     client is paused, it sees that when it goes on; if it is a process, the
//     history has it end then.
//
// A fault that ends the moment its step comes has begun or ended when Reach
// returns. An event that says something is down comes before it is, and one
// that says it is up comes after.
package live
