package sim

import "math/bits"

// event is something that happens at an instant. It holds no pointers, so that
// the queue costs the garbage collector nothing: index leads to the rest.
//
// It has 16 bytes, so that the four children of a place in the queue fill one
// cache line.
type event struct {
	at   int64  // ground time, ns
	rest uint64 // class, sequence and index, from the highest bits down
}

// The parts of event.rest.
const (
	indexBits    = 24 // 16 million messages, calls, delayed actions or coroutines at a time
	sequenceBits = 36 // 68 billion events in the life of a world
)

func newEvent(at int64, c class, sequence uint64, index int32) event {
	return event{at: at, rest: uint64(c)<<(sequenceBits+indexBits) | sequence<<indexBits | uint64(index)}
}

func (e *event) class() class { return class(e.rest >> (sequenceBits + indexBits)) }

// index leads to the message, call, delayed action or coroutine of the event.
func (e *event) index() int32 { return int32(e.rest & (1<<indexBits - 1)) }

// class is what happens. Of two events at one instant the one of the lower
// class comes first: faults before what they may hit, and replies before the
// timers that wait for them. Deferred deliveries come after both.
type class uint8

const (
	faultDue class = iota + 1
	delayedActions
	requestArrives
	replyArrives
	callArrives
	callReturns
	timerFires
	deferredArrive
)

func (e *event) before(o *event) bool { return e.precedes(o) != 0 }

// precedes is 1 if e comes before o, and otherwise 0: the borrow of a
// subtraction of 128 bits. Times are not negative. Which of two events is the
// earlier is a coin toss that no processor can predict, so nothing may jump on
// it where many are compared.
func (e *event) precedes(o *event) uint64 {
	_, borrow := bits.Sub64(e.rest, o.rest, 0)
	_, borrow = bits.Sub64(uint64(e.at), uint64(o.at), borrow)
	return borrow
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
	if q.seq>>sequenceBits|uint64(index)>>indexBits != 0 {
		panic("sim: too many events for one world")
	}
	e := newEvent(at, c, q.seq, index)
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
			least += (c - least) & -int(h[c].precedes(&h[least]))
		}
		if !h[least].before(&e) {
			break
		}
		h[i] = h[least]
		i = least
	}
	h[i] = e
}
