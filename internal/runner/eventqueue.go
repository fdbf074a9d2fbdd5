package runner

import "github.com/lockstorm/lockstorm/history"

// eventQueue passes events on to the checker in groups. Code that judges many events in a row
// stays in the processor's cache, and so does the simulator's code in between.
type eventQueue struct {
	checker history.Sink
	events  [128]history.Event
	waiting int // of the events
}

// Record implements [history.Sink].
func (q *eventQueue) Record(e *history.Event) {
	q.events[q.waiting] = *e
	if q.waiting++; q.waiting == len(q.events) {
		q.flush()
	}
}

// flush passes on the events that wait.
func (q *eventQueue) flush() {
	for i := range q.events[:q.waiting] {
		q.checker.Record(&q.events[i])
	}
	q.waiting = 0
}
