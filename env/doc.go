// Package env is what a distributed lock may ask of its world, and what it
// tells that world in return: clocks and sleep ([Runtime]), messages to
// independent nodes ([Nodes], [Round]), the resource that the lock guards
// ([Register]), and an [Observer] that hears of every step.
//
// A lock that is written on env alone runs unchanged in every world: in the
// deterministic simulator, where time is virtual and a client is a coroutine,
// and in production, where [System] is the runtime and redlock/redisnode the
// nodes. In return the lock must wait only through env: no go statement, no
// channel, no timer of its own.
//
// env knows neither a lock nor a backend and imports only the standard
// library. Nodes and clients are numbered from 1.
package env
