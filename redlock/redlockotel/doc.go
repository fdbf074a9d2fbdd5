// Package redlockotel tells OpenTelemetry of a lock: traces and metrics of package
// redlock, which itself knows nothing of them.
//
//	telemetry, err := redlockotel.New(env.System(), redlockotel.Options{})
//	...
//	mutex, err := redlock.New(config, env.System(), telemetry.Nodes(nodes), telemetry.Observer(nil))
//	...
//	hold, err := telemetry.Lock(ctx, mutex, "invoice-7") // or mutex.Lock
//
// A [Telemetry] listens in two places. [Telemetry.Observer] hears of every step and
// makes spans of what the lock does; [Telemetry.Nodes] stands between the lock and
// its nodes, makes a span of each request, and sees the contexts with which the lock
// waits for answers. These are those of the caller, so that spans hang on the span
// that the caller has there; an observer is given none. Neither place alone is of
// much use: without Nodes all spans are roots and have no children.
//
//	span             from … to                                       hangs on
//	redlock lock     call and return of [Telemetry.Lock]             the caller's
//	redlock acquire  begin and outcome of one try                    the caller's, or that of redlock lock
//	redlock hold     the grant, and release, warning or loss         the same; if there is none, the try
//	redlock extend   begin and outcome of an extension               the hold
//	redlock release  begin and outcome of a release                  that on which the hold hangs
//	set node 3       sent, and answered or given up; also extend,    what the request was sent for
//	                 delete, count (of a fence), raise
//
// An extension or a release that is called under another span than the lock was
// hangs on that one, and has a link to the hold. What is asked after the outcome is
// clear hangs on what it follows from, though that has ended: answers that come late
// (redlock.late), keys that are deleted afterwards. Such requests are forgotten with
// the oldest of 4096 tries that are over, and have then no span.
//
// A hold ends when its holder calls Release or is told that the validity is about to
// end or the lock lost, whichever is first; events say which. It can last as long as a
// watchdog extends it, and most exporters tell of a span when it ends: that of the try
// is told at once.
//
// A span has an error status if something should be looked at: nothing that is
// routine ([redlock.Routine]), such as a lock that is taken.
//
// Whoever knows a token can release the lock. So a span bears only what
// [redlock.ShortToken] lets be known, the same digits as the records of
// [redlock.Logged], and errors are written with those in its place. The names of
// resources are told in traces, and never in metrics, where each would make a
// series of its own; [Options.Class] tells of what kind they are.
//
// Nothing here waits or fails: spans and measurements are handed to the providers on
// the goroutine that uses the lock. An exporter has to be behind a batch, or the
// validity runs on while it exports. Time is that of the runtime, so that a lock in a
// simulator has its telemetry in virtual time: a span begins at the time of day when
// its try began, and from there on by the clock that counts suspension, so that no
// step of the time of day makes a span end before it begins.
package redlockotel
