// Package hunt searches for runs in which a lock breaks a promise. It draws scenarios and fault plans at
// random, runs them in parallel and judges them.
//
//   - A [SearchSpace] draws scenarios (space.go, settings.go). Plans are drawn from the
//     weights of the faults, and some are aimed (plan.go, boundary.go).
//   - A hunt is for properties that are promised under the plan of a run. What a lock promises
//     is in internal/promises.
package hunt
