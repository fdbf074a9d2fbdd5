// Package sim simulates a world in virtual time: nodes, clients, a network and a guarded
// resource, in one thread, driven by one queue of events. Everything random follows from
// one seed, so that a run can be repeated bit for bit; [World.Trace] proves it.
//
// A client is ordinary blocking code. It runs as a coroutine, which the event loop resumes
// when what it waits for has happened, so that only one piece of client code runs at any
// time. The package starts no goroutine, opens no socket and reads no clock of the
// machine. It knows no lock.
//
// The event loop is World.Run in world.go, with its queue in queue.go, what it lets act in activity.go, the
// coroutines of the clients' jobs in coroutine.go, and the limits that end a world which makes no progress in
// limits.go. What is random is drawn in random.go; choice.go lets a driver make these and other choices, and
// state.go hashes the state between two of them.
//
// A client (client.go) sends a round of requests (round.go). A request is a message (message.go) on a link
// (links.go). The network (network.go) takes the message to a node and its reply back, in batches (batches.go), over shared
// connections (connection.go), and through what faults do on its way (network_faults.go). A node (node.go) has
// keys (keyspace.go), a server that can fail (server.go), which executes commands (commands.go), and a journal
// (journal.go) by which faults take changes back (rollback.go). The nodes can also replicate a store: store.go
// is its state machine, ensemble.go its leader, storerequest.go its requests, and backends.go the sessions that
// are connections. register.go is the guarded resource. The handlers of all faults are in faults.go.
package sim
