// Package follow pairs the events of a history that begin and end something: calls,
// pauses, keys, faults, nodes that are down, links that are cut. What it tells are courses,
// each from its begin to its end, with what there is to say of them in words.
//
//	f := follow.New(func(c *follow.Course) { … })
//	… f.Observe(event) …
//	f.Finish(end)
//
// It knows the events and nothing else: who holds the lock is for the judges to tell.
package follow
