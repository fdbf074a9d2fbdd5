// Package sweep measures how often a property is violated as a function of a few numbers. A
// [Sweep] has points, each a scenario with the values of these numbers and, if there is a
// formula, its prediction. A [Measurement] runs every point many times and writes each outcome
// to a file, so that it can be stopped, resumed, and divided into shards.
//
//	c := Measurement{Sweep: s, Backend: simulated.Backend(), Runs: 1000, First: 1, SideBySide: 4}
//	head, err := c.Head(ctx)
//	journal, err := OpenJournal(dir, head)
//	err = c.Run(ctx, len(journal.Outcomes()), journal.Add)
//
// The sweeps of this project are defined in package series.
package sweep
