// Package redlockotel adds OpenTelemetry traces and metrics to package redlock, which does
// not depend on it.
//
//	telemetry, err := redlockotel.New(env.System(), redlockotel.Options{})
//	...
//	mutex, err := redlock.New(config, env.System(), telemetry.Nodes(nodes), telemetry.Observer(nil))
//	...
//	hold, err := telemetry.Lock(ctx, mutex, "invoice-7") // or mutex.Lock
//
// A [Telemetry] needs both of its parts. [Telemetry.Observer] receives every step of the lock
// and makes the spans of its operations. [Telemetry.Nodes] wraps the nodes: it makes a span of
// each request, and sees the caller's contexts, in which the lock waits for replies; observers
// receive no context. Without Nodes all spans are roots without children.
//
//	span             from … to                                       parent
//	redlock lock     call and return of [Telemetry.Lock]             the caller's span
//	redlock acquire  start and outcome of one try                    the caller's span, or redlock lock
//	redlock hold     the grant, and release, warning or loss         the same; without one, redlock acquire
//	redlock extend   start and outcome of an extension               redlock hold
//	redlock release  start and outcome of a release                  the parent of redlock hold
//	set node 3       request and reply, or its timeout; also extend, the operation that sent it
//	                 delete, count (of a fence), raise
//
// An extension or a release that is called in another span than the lock is a child of that
// span, with a link to the hold. Requests after the outcome of an operation are its children
// although it has ended: late replies (redlock.late), and deletions. The last 4096 tries that
// have ended are remembered for that; requests of older ones have no span.
//
// A hold ends when its holder calls Release, or is notified that the validity is about to end
// or that the lock is lost, whichever comes first; events of the span say which. A hold can
// last as long as a watchdog extends it, and most exporters send a span when it ends. The span
// of the try is sent at once.
//
// A span has an error status if somebody should look at it. Routine errors
// ([redlock.Routine]), such as a lock that is taken, set none.
//
// Whoever knows a token can release the lock. So spans contain tokens only as
// [redlock.ShortToken], the same digits as the records of [redlock.Logged], and error texts
// are shortened likewise. Traces contain the names of resources. Metrics never do, because
// each name would make a series of its own; [Options.Class] gives them a class.
//
// Nothing here waits or fails: spans and measurements go to the providers on the goroutine
// that uses the lock. Use an exporter with a batch, or the validity runs on while it exports.
// Times are those of the runtime, so a lock in a simulator has telemetry in virtual time. A
// span starts at the time of day at which its try began, and continues by the clock that
// counts suspension: a step of the time of day never makes a span end before it starts.
package redlockotel
