// Package checker judges histories. A [Checker] takes a history as a stream, one
// event at a time, and finds for every property of a lock a verdict with its
// story, and the measurements that go with them:
//
//	panel := checker.New(header)
//	for i := range events {
//		panel.Record(&events[i])
//	}
//	report := panel.Finish()
//
// There is one checker: a simulated run is judged while it runs, and a stored
// one by reading it again. Memory follows the number of holds that are live at
// a time, not the length of the history.
//
// The package is pure. It knows neither a lock nor a backend and takes the
// history's word for everything; above all it never takes a key on a node for
// evidence that somebody holds the lock. It reads no clock, but that porcupine's
// search for an order of sections is given up after a while: effect exclusion is
// then unknown.
package checker
