// Package promises says what each lock promises, and whether a violation is a limit of the lock or a
// defect.
//
//   - [Terms] are the promised properties, each with its [Assumptions] (terms.go, assumptions.go,
//     impact.go). [Of] has those of each kind of lock, [OfExternal] those of a lock that the program
//     does not know (promises.go), [Load] those in a file.
//   - [Bounds] are the times that a correct lock keeps without faults (bounds.go).
//   - A promised property that is violated within its assumptions is a defect of the lock. One that
//     is violated outside them is a limit. [Standing] says which, in words (standing.go).
//
// A promise speaks of a whole scenario: a lock, its nodes or its store, clients and a plan. It knows
// nothing of how runs are made or searched for.
package promises
