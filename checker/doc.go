// Package checker judges histories. A [Checker] reads a history one event at a
// time. It returns a verdict for every property of a lock, with the reasons, and
// measurements:
//
//	c := checker.New(header)
//	for i := range events {
//		c.Record(&events[i])
//	}
//	report := c.Finish()
//
// Simulated runs, runs on real servers and stored histories are judged by the
// same code. Memory grows with the number of holds that are live at a time, not
// with the length of the history.
//
// The checker knows no lock and no backend. It believes what the history says,
// with one exception in mind: a key on a node is never evidence that a client
// holds the lock. It reads no clock, except to give up a search for an order of
// sections that takes too long; effect exclusion is then unknown.
package checker
