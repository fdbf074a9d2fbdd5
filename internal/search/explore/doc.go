// Package explore runs a small world in every way that its bounds allow: every latency, every drawn
// number, every order of simultaneous events, every number of changes that a fault takes from a node, and
// every choice of faults. If no run violates a property, then no run within these bounds does. That is a
// proof about the code of the lock itself and not about a model of it, and about no run beyond the bounds.
//
// A run is a list of ways, one for each point at which the world has a choice. The search is
// stateless: it runs the world from its start again and again. Each run follows the last one up to
// the last point at which some way was not taken, and takes that way. Two reductions leave out runs
// that show nothing new: of simultaneous events only those of one machine come in every order (see
// [choice.Grain]), and a run ends in a state that was seen before (see [choice.State]). A law holds both
// to the runs that are made without them.
package explore
