// Package sim simulates a world in virtual time: nodes, clients, a network and a guarded
// resource, in one thread, driven by one queue of events. Everything random follows from
// one seed, so that a run can be repeated bit for bit; [World.Trace] proves it.
//
// A client is ordinary blocking code. It runs as a coroutine, which the event loop resumes
// when what it waits for has happened, so that only one piece of client code runs at any
// time. The package starts no goroutine, opens no socket and reads no clock of the
// machine. It knows no lock.
//
// The event loop is in world.go, with its queue in queue.go, what it lets act in activity.go,
// the coroutines of the clients' jobs in coroutine.go, and the limits that end a world which
// makes no progress in limits.go.
// What is random is drawn in random.go; choice.go lets a driver make these and other choices.
// Clients (client.go) send rounds of requests (round.go) over the network (network.go), on
// pipelined or pooled connections (connection.go) or in batches (batches.go). A node has
// keys (node.go, keyspace.go, commands.go), a server that can fail (server.go), and a journal of what
// it can lose (journal.go). The nodes can also replicate a store: store.go is its state
// machine, ensemble.go its leader, storerequest.go its requests. register.go is the
// guarded resource. Faults are in faults.go, those of the network in network_faults.go,
// rollbacks in journal.go.
package sim
