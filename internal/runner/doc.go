// Package runner runs a scenario on a backend. [Prepare] makes an [Experiment] of the two,
// [Experiment.Run] runs it once and [Batch] many times. A run is recorded and checked.
//
// It is the only package that knows both locks and worlds: it builds the scenario's lock
// on the ports of a [World], drives it with a workload, and writes the events of the
// lock's observer into the history. It sees a world only through the interface that it
// defines. locks.go lists the locks and workloads.go the workloads, one line each.
package runner
