// Package timeline follows what happened in a history: tries, holds and their windows, keys on nodes and entries
// in stores, nodes, clients, links, faults, and accesses to guarded resources. It alone defines where each begins and
// ends. The checker, traces, pages and searches use it.
//
//	t := timeline.New(header)
//	t.Listen(observer)                                // receives facts, and the ends of instants
//	t.ListenToWindows(timeline.LeaseWindow, observer) // receives begins and ends of windows
//	for i := range events {
//		t.Record(&events[i])
//	}
//	t.Close()
//
// A [Fact] is an event with the client, hold, section and call that it concerns. Events of one instant may be recorded
// in any order: an event that follows from another one of its instant is deferred until that one is recorded.
// Observers read the timeline and do not change it. It drops what no further event can concern, so its memory grows
// with what is live at a time. An observer keeps its own state of a hold, a client or a resource: see [PerHold].
//
// Programs that show a run get windows, holds and intervals as data: from [Timeline.Windows], [Timeline.Holds] and
// [Timeline.Intervals] as the history is read, or all at once as the run's [Past].
package timeline
