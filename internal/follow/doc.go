// Package follow works out from a history what the pages of a run show: the intervals
// between an event and the one that ends it (calls, pauses, keys, faults, nodes that are down,
// links that are cut), with their texts, and when a client worked past its validity.
//
//	f := follow.New(func(i *follow.Interval) { … })
//	… f.Observe(event) …
//	f.Finish(end)
package follow
