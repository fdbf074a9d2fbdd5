// Package storm runs a scenario on a backend: it makes an [Experiment] of the two
// ([Prepare]), runs that once or many times ([Batch]), records what happens, and
// has it judged.
//
// It is the only package that knows both locks and worlds: it builds the
// scenario's lock on the ports of a [World], drives it with a workload, and
// writes what the lock's observer hears into the history. It sees a world only
// through the interface that it defines. Locks are listed in locks.go,
// workloads in workloads.go; each has one line there.
package runner
