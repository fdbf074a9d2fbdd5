package sim

import (
	"math/bits"
)

// event is something that happens at an instant. It holds no pointers, so that the queue
// costs the garbage collector nothing: index refers to the rest.
//
// It has 16 bytes, so that four siblings in the heap fill one cache line.
type event struct {
	at   int64  // ground time, ns
	rest uint64 // class, sequence and index, from the highest bits down
}

// The parts of event.rest.
const (
	indexBits    = 24 // 16 million messages, calls, delayed actions or activities at a time
	sequenceBits = 36 // 68 billion events in the life of a world
)

func newEvent(at int64, c class, sequence uint64, index int32) event {
	return event{at: at, rest: uint64(c)<<(sequenceBits+indexBits) | sequence<<indexBits | uint64(index)}
}

func (e *event) class() class { return class(e.rest >> (sequenceBits + indexBits)) }

// index refers to the message, call, delayed action or activity of the event.
func (e *event) index() int32 { return int32(e.rest & (1<<indexBits - 1)) }

// class is the kind of event. Of two events at one instant the one of the lower class
// comes first: faults before what they may affect, and replies before the timers that wait
// for them. Deferred deliveries come after both.
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

// precedes is 1 if e comes before o, and otherwise 0: the borrow of a subtraction of 128
// bits. Times are not negative. Which of two events is earlier is unpredictable for the
// processor, so loops over many events must not branch on it.
func (e *event) precedes(o *event) uint64 {
	_, borrow := bits.Sub64(e.rest, o.rest, 0)
	_, borrow = bits.Sub64(uint64(e.at), uint64(o.at), borrow)
	return borrow
}

// queue keeps events in the order (instant, class, sequence). Timers have a heap of their own:
// most of them are far ahead and fire in vain, and messages need not pass them.
type queue struct {
	timers heap
	others heap
	seq    uint64
}

func (q *queue) push(at int64, c class, index int32) {
	q.seq++
	if q.seq>>sequenceBits|uint64(index)>>indexBits != 0 {
		panic("sim: too many events for one world")
	}
	e := newEvent(at, c, q.seq, index)
	if c == timerFires {
		q.timers.push(e)
	} else {
		q.others.push(e)
	}
}

func (q *queue) len() int { return len(q.timers) + len(q.others) }

// first returns the heap with the first event; if there is no event, it is empty.
func (q *queue) first() *heap {
	if len(q.timers) == 0 || len(q.others) > 0 && q.others[0].before(&q.timers[0]) {
		return &q.others
	}
	return &q.timers
}

// heap is a 4-ary heap of events. Against a binary heap it halves the depth and keeps
// siblings in one or two cache lines.
type heap []event

const arity = 4

func (h *heap) push(e event) {
	all := append(*h, e)
	*h = all
	i := len(all) - 1
	for i > 0 {
		parent := (i - 1) / arity
		if !e.before(&all[parent]) {
			break
		}
		all[i] = all[parent]
		i = parent
	}
	all[i] = e
}

// pop removes the first event of a heap that is not empty.
func (h *heap) pop() event {
	all := *h
	first := all[0]
	last := len(all) - 1
	moved := all[last]
	*h = all[:last]
	if last > 0 {
		h.sink(moved)
	}
	return first
}

// sink puts e at the root and moves it down to its position.
func (h heap) sink(e event) {
	i := 0
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

// arena stores values that the queue refers to by index, and reuses their slots.
type arena[T any] struct {
	all  []T
	free []int32
}

// reserve makes room for so many values.
func (s *arena[T]) reserve(n int) { s.all, s.free = make([]T, 0, n), make([]int32, 0, n) }

// put stores a value and returns its index, which is good until it is taken.
func (s *arena[T]) put(v T) int32 {
	if last := len(s.free) - 1; last >= 0 {
		i := s.free[last]
		s.free = s.free[:last]
		s.all[i] = v
		return i
	}
	s.all = append(s.all, v)
	return int32(len(s.all) - 1)
}

// at returns the value at an index. The pointer is good until the next put.
func (s *arena[T]) at(i int32) *T { return &s.all[i] }

// take returns the value at an index and frees its slot.
func (s *arena[T]) take(i int32) T {
	v := s.all[i]
	var zero T
	s.all[i] = zero
	s.free = append(s.free, i)
	return v
}

// block hands out values that clients keep, for one allocation in many. Nobody hands them
// back: the garbage collector frees a block with the last of its values.
type block[T any] struct{ left []T }

const blockSize = 32

// next returns a pointer to a zero value.
func (b *block[T]) next() *T {
	if len(b.left) == 0 {
		b.left = make([]T, blockSize)
	}
	v := &b.left[0]
	b.left = b.left[1:]
	return v
}
