// Package sim is a world in virtual time: nodes, clients, a network and a
// guarded resource, in one thread, driven by one queue of events. Everything
// random follows from one seed, so that a run can be repeated bit for bit;
// [World.Trace] proves it.
//
// A client is ordinary blocking code. It runs as a coroutine that the event
// loop resumes when what it waits for has come, so that only one piece of
// client code runs at any time. The package starts no goroutine, opens no
// socket and reads no clock of the machine; it knows no lock.
//
// Where things are: the event loop in world.go, its queue in queue.go,
// coroutines in coroutine.go, a client's view of the world in client.go, the
// network in network.go, one direction of a link in link_direction.go, what a client gets
// to see of its requests in round.go, pipelined connections in connection.go, a
// limited pool of them in pool.go, a node's key store in node.go, its server in
// server.go, how that goes down and comes back in outage.go, what it may lose in
// journal.go, clocks in clocks.go, the guarded resource in register.go, the store
// that nodes replicate in store.go and session.go (its state machine), ensemble.go
// (its leader), replica.go (what lags behind) and store_request.go (the way of a
// request to it), what ends a world that cannot go on in progress.go, and each
// kind of fault, with what it is made of, in a file fault_*.go; those that do
// nothing but to messages share fault_traffic.go.
package sim
