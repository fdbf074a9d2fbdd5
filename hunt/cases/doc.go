// Package cases keeps runs that show something as files that people read, change and
// review: the scenario with its plan, the seed, what one property came to, and the
// story of it. A case is run again by the command, by the tests of this project, and by
// a Go test that it writes of itself.
//
// A case shows that a property is violated, which is a limit of the lock or a defect
// that nobody has mended yet; or that it holds, where a defect once broke it: then it is
// a regression test.
package cases
