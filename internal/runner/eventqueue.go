package runner

import (
	"sync"

	"github.com/lockstorm/lockstorm/history"
)

// eventQueue passes events on to the checker in groups. Code that judges many events in a row
// stays in the processor's cache, and so does the simulator's code in between.
type eventQueue struct {
	checker history.Sink
	events  [128]history.Event
	waiting int // of the events
}

// queues are those that no run uses: a queue is large beside a small world.
var queues = sync.Pool{New: func() any { return new(eventQueue) }}

func newEventQueue(checker history.Sink) *eventQueue {
	q := queues.Get().(*eventQueue)
	q.checker = checker
	return q
}

// close passes on the events that wait. The queue may not be used any more.
func (q *eventQueue) close() {
	q.flush()
	q.checker = nil
	queues.Put(q)
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
