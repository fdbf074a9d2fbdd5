// Package trace prints a run step by step, for a person who wants to understand it: the
// requests of clients to nodes, each reply with its votes, grants with their windows,
// clocks that go wrong, keys, faults, and where the windows of two holders overlap.
//
//	e, t := Of(e)
//	r, err := e.Run(ctx, seed, nil)
//	err = t.Print(os.Stdout, r.Report.Finding(checker.Lease))
//
// To show a run in another way, read its lines:
//
//	for _, l := range t.Lines(t.Past()) { … }
//
// A trace has what a history does not: requests, and replies that were not counted.
// Replies that come after the lock has stopped waiting are missing; if such a request sets
// a key, the key appears.
package trace
