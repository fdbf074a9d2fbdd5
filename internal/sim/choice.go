package sim

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
)

// PointKind is the kind of a [Point].
type PointKind uint8

// The kinds.
const (
	Latency PointKind = iota + 1 // how long a message takes
	Draw                         // a number that a client draws, other than a token, or a node, the store or a fault
	Order                        // which of several simultaneous events of one machine comes first
	Kept                         // how many changes a node keeps that have perhaps not come to its disk or replica
)

// Point names a point at which a world can go on in several ways.
type Point struct {
	Kind PointKind
	For  Purpose // what is random, unless it is an order

	// A latency is that of a message between Client and Node, with Number, from 1, of those sent Way. If
	// it is the latency of a call of the guarded resource, all of these are zero.
	Node int
	Way  nemesis.Direction

	// A number is drawn by Client, with Number, from 1, of those that it draws; or by Source, such as
	// "commits of the store".
	Client, Number int
	Source         string

	// Changes are kept by Node.
}

// Chooser makes the choices of a world in place of its seed.
type Chooser interface {
	// Choose returns the way on at a point, from 0 to n-1. n is at least 2. Way 0 is the shortest
	// latency, the number or the changes that follow from the seed, or the event that comes first in
	// a world with a seed.
	Choose(w *World, at Point, n int) int

	// GoOn is called before every event, while the code of all clients waits, and reports
	// whether the world is to go on. If not, Run returns [ErrStopped].
	GoOn(w *World) bool
}

// ErrStopped is the error of a world that its chooser has stopped.
var ErrStopped = errors.New("sim: the world was stopped by its chooser")

// Choices says which choices a world has.
type Choices struct {
	Chooser Chooser

	// Latencies is the number of latencies from which that of a message is chosen, evenly
	// spaced over its range. At least 1: the shortest.
	Latencies int

	// Draws is the number of values, evenly spaced over a range, that can be drawn from it beside
	// the one that follows from the seed. If that were not the usual one, clients would draw equal
	// retry delays again and again.
	Draws int

	// EveryOrder lets the events of one instant come in every order. It is needed if something that
	// a machine does can have an effect on another at the same instant: if a message can take no
	// time, a fault begins or ends at a step of a client, or faults draw random numbers
	// ([FaultsDraw]). Otherwise the order of the events of one machine is enough, because all
	// orders of the others lead to the same world.
	EveryOrder bool
}

// choices is a world's choices, and what it needs for them.
type choices struct {
	Choices
	due      []event // at this instant, in the order of the queue
	recorded digest  // the events of the history, in any order of those of one instant
	guarded  digest  // the calls of the guarded resource, in their order
}

// OpenBranching is [Open] for a world whose choices are made by a chooser. [Random] says what else
// follows from the seed.
func OpenBranching(ctx context.Context, s nemesis.Setting, seed uint64, sink history.Sink, c Choices) (*World, error) {
	w, err := Open(ctx, s, seed, sink)
	if err == nil {
		w.choices = &choices{Choices: c}
	}
	return w, err
}

// choose returns the way on at a point with n ways.
func (w *World) choose(at Point, n int) int {
	if n < 2 || w.err != nil || w.sealed {
		return 0
	}
	k := w.choices.Chooser.Choose(w, at, n)
	if k < 0 || k >= n {
		w.fail(fmt.Errorf("sim: way %d of the %d at a point", k, n))
		return 0
	}
	return k
}

// chosenLatency returns the latency of a message.
func (w *World) chosenLatency(l *linkDirection) int64 {
	r, n := l.latency.Range(), w.choices.Latencies
	at := Point{Kind: Latency, For: forLatencies}
	if client, node, way, ok := w.Link(l.stream); ok {
		l.drawn++
		at.Client, at.Node, at.Way, at.Number = client, node, way, l.drawn
	}
	if r.Min == r.Max {
		return int64(r.Min)
	}
	k := w.choose(at, n)
	if k == 0 {
		return int64(r.Min)
	}
	return int64(r.Min) + int64(r.Max-r.Min)/int64(n-1)*int64(k)
}

// chosenDraw returns 64 random bits, or such that a range maps to the chosen number, see
// [nemesis.Range.Draw].
func (c *client) chosenDraw() uint64 {
	own := c.random.unchosen()
	c.random.drawn++
	bits := c.world.chosenBits(Point{Kind: Draw, For: forClients, Client: c.id, Number: c.random.drawn}, own)
	c.observe(bits, 0)
	return bits
}

// chosenBits returns a number of 64 bits, given the one that follows from the seed.
func (w *World) chosenBits(at Point, own uint64) uint64 {
	n := w.choices.Draws
	switch k := w.choose(at, 1+n); {
	case k == 1:
		return 0
	case k > 1:
		return uint64(k-1) * (math.MaxUint64 / uint64(n-1))
	}
	return own
}

// chosenPosition returns one of some positions of a node's journal, given the one that follows from the
// seed.
func (w *World) chosenPosition(why Purpose, n *node, own int, positions []int) int {
	if w.choices == nil || len(positions) < 2 {
		return own
	}
	if k := w.choose(Point{Kind: Kept, For: why, Node: n.id}, 1+len(positions)); k > 0 {
		return positions[k-1]
	}
	return own
}

// nextChosen is next for a world with choices.
func (w *World) nextChosen() bool {
	w.armScheduler()
	at := w.nextInstant()
	if at > int64(w.setting.Horizon) {
		return false
	}
	if at > w.now {
		w.now = at
		w.limits.timeAdvanced()
	}
	if !w.choices.Chooser.GoOn(w) {
		w.fail(ErrStopped)
		return true
	}
	w.collect(at)
	if len(w.choices.due) > 0 {
		w.handle(w.takeDue())
	}
	return true
}

// nextInstant returns when the next event comes; after every horizon: never.
func (w *World) nextInstant() int64 {
	if len(w.choices.due) > 0 {
		return w.now
	}
	if first := *w.queue.first(); len(first) > 0 {
		return first[0].at
	}
	return math.MaxInt64
}

// collect moves the events of an instant from the queue to those that are due. A timer that
// wakes nobody is no event of which there is an order.
func (w *World) collect(at int64) {
	c := w.choices
	for first := w.queue.first(); len(*first) > 0 && (*first)[0].at == at; first = w.queue.first() {
		e := first.pop()
		if e.class() == timerFires && !w.activities[e.index()].wakesAt(at) {
			w.activities[e.index()].timer(at)
			continue
		}
		c.due = append(c.due, e)
	}
	slices.SortFunc(c.due, func(a, b event) int { return int(b.precedes(&a)) - int(a.precedes(&b)) })
}

// wakesAt reports whether a timer of the activity that fires now ends its wait.
func (a *activity) wakesAt(at int64) bool {
	return at == a.timerAt && a.waits && a.client != nil && a.client.mono() >= a.until
}

// takeDue removes the chosen one of the due events. Faults, and what nodes do after them, come
// first.
func (w *World) takeDue() event {
	c, chosen := w.choices, 0
	if c.due[0].class() > delayedActions {
		chosen = w.choose(Point{Kind: Order}, w.inAnyOrder())
	}
	for i := range c.due {
		if !w.withFirst(i) {
			continue
		}
		if chosen == 0 {
			e := c.due[i]
			c.due = slices.Delete(c.due, i, i+1)
			return e
		}
		chosen--
	}
	panic("sim: a way that there is not")
}

// Due says in words what is at a way of a point of order, as in "a request of client 1 at node 2".
func (w *World) Due(way int) string {
	for i := range w.choices.due {
		if !w.withFirst(i) {
			continue
		}
		if way == 0 {
			return w.inWords(&w.choices.due[i])
		}
		way--
	}
	return ""
}

func (w *World) inWords(e *event) string {
	switch i := e.index(); e.class() {
	case requestArrives:
		m := w.network.messages.at(i)
		return fmt.Sprintf("a request of client %d at node %d", m.client, m.node)
	case replyArrives:
		m := w.network.messages.at(i)
		return fmt.Sprintf("a reply of node %d to client %d", m.node, m.client)
	case callArrives:
		return fmt.Sprintf("a request of client %d at the guarded resource", w.calls.at(i).client.id)
	case callReturns:
		return fmt.Sprintf("a reply of the guarded resource to client %d", w.calls.at(i).client.id)
	case timerFires:
		return fmt.Sprintf("a timer of client %d", w.activities[i].client.id)
	default:
		return fmt.Sprintf("what client %d has waited for", i+1)
	}
}

// inAnyOrder returns how many of the due events may come next.
func (w *World) inAnyOrder() (n int) {
	for i := range w.choices.due {
		if w.withFirst(i) {
			n++
		}
	}
	return n
}

// withFirst reports whether a due event may come before the first one.
func (w *World) withFirst(i int) bool {
	due := w.choices.due
	return i == 0 || w.choices.EveryOrder || w.machine(&due[i]) == w.machine(&due[0])
}

// theGuard is the machine of the guarded resource. Clients have the numbers below it, nodes those
// above.
const theGuard int32 = 1 << 20

// machine returns a number of the machine at which the event happens.
func (w *World) machine(e *event) int32 {
	switch i := e.index(); e.class() {
	case requestArrives:
		return theGuard + w.network.messages.at(i).node
	case replyArrives:
		return w.network.messages.at(i).client
	case callArrives:
		return theGuard
	case callReturns:
		return int32(w.calls.at(i).client.id)
	case timerFires:
		return int32(w.activities[i].client.id)
	default:
		return i + 1 // a deferred arrival
	}
}

// observe mixes in what the client's code learns. The code is deterministic, so what it does next
// follows from all that it has observed.
func (c *client) observe(a, b uint64) {
	if c.world.choices != nil {
		c.observed.add(a)
		c.observed.add(b)
	}
}

// observeTurn mixes in that an activity of the client goes on, and what the clocks show.
func (c *client) observeTurn(a *activity) {
	c.observe(uint64(slices.Index(c.activities, a)), uint64(c.world.now))
	c.observe(uint64(c.now(env.Wall)), uint64(c.mono()))
	c.observe(uint64(c.now(env.Boottime)), 0)
}
