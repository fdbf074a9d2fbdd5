// Package env is the interface between a distributed lock and its world: clocks and sleep
// ([Runtime]), requests to independent nodes ([Nodes], [Round]), the resource that the
// lock guards ([Register]), and an [Observer] to which the lock reports every step.
//
// A lock that uses only env runs unchanged in every world: in the deterministic simulator,
// where time is virtual and a client is a coroutine, and in production, where [System] is
// the runtime and redlock/redisnode provides the nodes. So the lock must wait only through
// env: it has no go statement, channel or timer of its own.
//
// env knows no lock and no backend, and imports only the standard library. Nodes and
// clients are numbered from 1.
package env
