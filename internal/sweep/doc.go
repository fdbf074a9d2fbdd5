// Package sweep measures how often a property is violated as a function of a few
// numbers: a [Sweep] is many scenarios, its points, each with its place among these
// numbers and, where there is a formula, with what the formula says of it. A [Campaign]
// runs every point many times and keeps what was found in a file, line by line, so that
// it can be stopped, resumed, and shared out.
//
//	c := Campaign{Sweep: s, Backend: simulated.Backend(), Runs: 1000, First: 1, SideBySide: 4}
//	head, err := c.Head(ctx)
//	journal, err := OpenJournal(dir, head)
//	err = c.Run(ctx, len(journal.Outcomes()), journal.Add)
//
// The sweeps of this project are defined in package series.
package sweep
