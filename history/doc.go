// Package history is the record of a run: what every client called and was
// told, what the world did to it, and when, on one clock. A history is a
// [Header] followed by [Event]s in the order of their time, closed by an event
// of kind [End]; it is all that a verdict may be found from.
//
// The timestamps are those of the ground clock, which belongs to the world and
// to no participant: virtual time in the simulator, absolute CLOCK_MONOTONIC on
// real servers. The package knows neither locks nor backends nor judges. A
// history travels as a stream into a [Sink]; a stored one, in JSON Lines
// ([Writer], [Reader]), is the same stream.
package history
