package sim

// event is something that happens at an instant. It holds no pointers, so that
// the queue costs the garbage collector nothing: index leads to the rest.
type event struct {
	at    int64 // ground time, ns
	seq   uint64
	class class
	index int32 // of a message, a call or a coroutine
}

// class is what happens. Of two events at one instant the one of the lower
// class comes first: faults before what they may hit, and replies before the
// timers that wait for them.
type class uint8

const (
	faultDue class = iota + 1
	requestArrives
	replyArrives
	callArrives
	callReturns
	timerFires
)

func (e *event) before(o *event) bool {
	if e.at != o.at {
		return e.at < o.at
	}
	if e.class != o.class {
		return e.class < o.class
	}
	return e.seq < o.seq
}

// queue is a 4-ary heap of events in the order (instant, class, sequence).
// Against a binary heap it halves the depth and keeps siblings in one or two
// cache lines.
type queue struct {
	heap []event
	seq  uint64
}

const arity = 4

func (q *queue) push(at int64, c class, index int32) {
	q.seq++
	e := event{at: at, seq: q.seq, class: c, index: index}
	q.heap = append(q.heap, e)
	i := len(q.heap) - 1
	for i > 0 {
		parent := (i - 1) / arity
		if !e.before(&q.heap[parent]) {
			break
		}
		q.heap[i] = q.heap[parent]
		i = parent
	}
	q.heap[i] = e
}

// pop takes the first event off a queue that is not empty.
func (q *queue) pop() event {
	first := q.heap[0]
	last := len(q.heap) - 1
	moved := q.heap[last]
	q.heap = q.heap[:last]
	if last > 0 {
		q.sink(moved)
	}
	return first
}

// sink puts e into the place of the root and moves it down to where it
// belongs.
func (q *queue) sink(e event) {
	h, i := q.heap, 0
	for {
		child := i*arity + 1
		if child >= len(h) {
			break
		}
		least := child
		for c := child + 1; c < min(child+arity, len(h)); c++ {
			if h[c].before(&h[least]) {
				least = c
			}
		}
		if !h[least].before(&e) {
			break
		}
		h[i] = h[least]
		i = least
	}
	h[i] = e
}
