// Package history is the record of a run: what every client called and what the calls returned,
// what happened to the world, and when, on one clock. A history is a [Header] followed by [Event]s
// in the order of their times, closed by an event of kind [End]. Verdicts are found from it alone.
//
// Timestamps are on the ground clock, which belongs to the world and to no participant: virtual
// time in the simulator, absolute CLOCK_MONOTONIC on real servers. The package knows neither locks
// nor backends nor checkers. A history streams into a [Sink]; a stored one, in JSON Lines
// ([Writer], [Reader]), is the same stream.
package history
