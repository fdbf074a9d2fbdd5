// Package sweep measures how often a property is violated as a function of a few numbers. A
// [Sweep] has points, each a scenario with the values of these numbers and, if there is a
// formula, its prediction. A [Measurement] runs every point many times and keeps a record of each block
// of runs, so that it can be stopped, continued, and divided into shards.
//
//	c := Measurement{Sweep: s, Backend: simulated.Backend(), Runs: 1000, First: 1, SideBySide: 4}
//	err := c.Run(ctx, log, func(o Outcome) error { … })
//
// The sweeps of this project are defined in package series.
package sweep
