// Package trace tells a run step by step, for a person who wants to understand it: who
// asked what of which nodes, each answer with the votes that it makes, grants with their
// windows, clocks that go wrong, keys, faults, and where the windows of two holders
// overlap as the judge sees them.
//
//	e, t := Of(e)
//	r, err := e.Run(ctx, seed, nil)
//	err = t.Print(os.Stdout, r.Report.Finding(checker.Lease))
//
// Who wants to show a run otherwise takes its lines one by one, each with what was heard:
//
//	for _, l := range t.Lines(checker.Lease) { … }
//
// It tells what a history does not: requests, and answers that nobody counted. What
// comes when the lock listens no more is not heard, and so not told; where it does
// something, the key that it sets is.
package trace
