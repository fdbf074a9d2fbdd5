// Package timeline follows what happened in a history: tries, holds and their windows, keys on nodes and entries
// in stores, nodes, clients, links, faults, and accesses to guarded resources. It says where each begins and ends,
// once for all who read histories: the checker, traces, pages and searches.
//
//	t := timeline.New(header)
//	t.Listen(observer)                                // facts, and the ends of instants
//	t.ListenToWindows(timeline.LeaseWindow, observer) // begins and ends of windows
//	for i := range events {
//		t.Record(&events[i])
//	}
//	t.Close()
//
// A [Fact] is an event with what it is about. Events of one instant may be recorded in any order: an event that
// follows from another one of its instant waits for it. A timeline is plain data, which its observers read and do not
// change. It keeps only what further events can concern, so its memory grows with what is live at a time.
// What an observer has to remember of a hold, a client or a resource it keeps itself: see [PerHold].
//
// Readers that show a run get what lasted as data: [Timeline.Windows], [Timeline.Holds] and [Timeline.Intervals]
// as the history is read, or all of a run at once as its [Past].
package timeline
