// Package fuzz searches for runs in which a lock breaks a promise. It draws scenarios and
// fault plans at random, runs them in parallel, keeps those that came close to a violation,
// and mutates them.
//
//   - A [SearchSpace] draws scenarios (space.go, settings.go). Plans are drawn from the
//     weights of the faults, and some are aimed (plan.go, boundary.go).
//   - The corpus holds what is mutated (corpus.go, mutate.go). Its fitness is several
//     measures, each on a scale of its own (fitness.go): votes that a second holder lacked,
//     or that a holder was left with; what was left of a bound. They only guide the search.
//     Violations are found by the checker.
//   - A hunt can begin with candidates of others (given.go), and offers its own as an [Entry].
//   - A hunt is for properties that are promised under the plan of a run. What a lock promises
//     is in internal/promises.
//   - A [Rediscovery] searches for the violation that a row of the debate shows, without
//     the plan of that row: with its lock, its world, its kinds of faults and those of the
//     network.
//
// A hunt is determined by its seed and the given candidates: they make the same runs in the same
// order on any number of cores.
package fuzz
