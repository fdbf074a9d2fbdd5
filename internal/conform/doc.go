// Package conform compares runs of Redlock with the specification that proof/ proves safe. It transcribes
// the guards and the invariant of the specification by hand (machine.go, assumptions.go, invariant.go,
// fences.go), and finds for each step of a run the step of the specification (plan.go): a SET that a node carries out is
// [Machine.Set], and so on. A step whose guard does not hold, a step without a counterpart and a state
// without the invariant are mismatches. The package shares no code with the lock or the checker.
//
// The specification has numbers that no client knows: for how long a client relies on a round at most, for
// how long a node keeps a key at least, and how long nodes are silent. A run is replayed when it is over, so
// these are what they were in the run, and A5 is a comparison in true time.
package conform
