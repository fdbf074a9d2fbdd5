// Package cases stores single runs as YAML files that people read, edit and review: the
// scenario with its fault plan, the seed, the verdict of one property, and its story.
// The command replays a case, the tests of this project repeat all stored cases, and a
// case can print a Go test of itself for another module.
//
// A case shows either that a property is violated, which is a limit of the lock or a
// defect that is not repaired yet, or that it holds where a defect once violated it: then
// the case is a regression test.
package cases
