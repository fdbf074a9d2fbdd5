// Package inevitable finds the point of no return of a violated run: the event from which on the
// violation could no longer be avoided.
//
// From an event of the run, futures are drawn. A future keeps what has happened up to the event. After
// it, every random number is drawn anew (latencies, retry delays, times of work), and each fault of the
// plan that has not begun takes place or not, with probability 1/2. The share of futures that violate
// the property is the probability of the violation at that event. Where it jumps, the violation was
// decided.
//
//	a, err := inevitable.Analyse(ctx, scenario, backend, seed, nil, checker.Lease, options, nil)
//	for _, j := range a.Jumps { … }
//
// The futures of all events use the same seeds, so that two events differ by what happened between
// them, and little by chance. Beside the curve, an analysis has a but-for test of each fault: the
// probability of the violation without it.
package inevitable
