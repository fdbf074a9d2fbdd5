package sim

import (
	"errors"
	"fmt"
	"slices"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/internal/choice"
)

// errStopped is the error of a run that its driver has ended.
var errStopped = errors.New("sim: the run was ended by its driver")

// few is what a world needs whose points have few ways.
type few struct {
	choice.Grain
	points   int     // so far
	due      []event // at this instant, in the order of the queue
	firsts   []int   // the positions of those that can come next: see first
	recorded digest  // the events of the history, in any order of those of one instant
	guarded  digest  // the calls of the guarded resource, in their order
}

// Drive lets a driver make the choices of the run, in place of the seed. It has to be called before Run.
// [choice.Random] says what follows from the seed all the same.
func (w *World) Drive(g choice.Grain, d choice.Driver) {
	if w.driver = d; g.Latencies > 0 {
		w.few = &few{Grain: g}
	}
}

// goesOn reports whether the driver lets the run go on.
func (w *World) goesOn() bool {
	if w.driver.Choose(w, choice.Point{Kind: choice.Next}, 2) == 0 {
		return true
	}
	w.fail(errStopped)
	return false
}

// choose returns the way on at a point with few ways.
func (w *World) choose(at choice.Point, n uint64) uint64 {
	if n < 2 || w.err != nil || w.sealed {
		return 0
	}
	at.Index = w.few.points
	w.few.points++
	k := w.driver.Choose(w, at, n)
	if k >= n {
		w.fail(fmt.Errorf("sim: way %d of the %d at a point", k, n))
		return 0
	}
	return k
}

// handleChosen handles one of the events of this instant. Faults, and what nodes do after them, come first.
func (w *World) handleChosen() {
	f := w.few
	w.collect()
	if len(f.due) == 0 {
		return
	}
	way := uint64(0)
	if f.due[0].class() > delayedActions {
		way = w.choose(choice.Point{Kind: choice.Order}, uint64(len(w.first())))
	}
	i := w.first()[way]
	e := f.due[i]
	f.due = slices.Delete(f.due, i, i+1)
	w.handle(e)
}

// collect moves the events of this instant from the queue to those that are due. A timer that wakes nobody
// is no event of which there is an order.
func (w *World) collect() {
	f := w.few
	for first := w.queue.first(); len(*first) > 0 && (*first)[0].at == w.now; first = w.queue.first() {
		e := first.pop()
		if e.class() == timerFires && !w.activities[e.index()].wakesAt(w.now) {
			w.activities[e.index()].timer(w.now)
			continue
		}
		f.due = append(f.due, e)
	}
	slices.SortFunc(f.due, func(a, b event) int { return int(b.precedes(&a)) - int(a.precedes(&b)) })
}

// wakesAt reports whether a timer of the activity that fires now ends its wait.
func (a *activity) wakesAt(at int64) bool {
	return at == a.timerAt && a.waits && a.client != nil && a.client.mono() >= a.until
}

// first lists the positions of the due events that can come next.
func (w *World) first() []int {
	due := w.few.due
	w.few.firsts = w.few.firsts[:0]
	for i := range due {
		if i == 0 || w.few.EveryOrder || w.machine(&due[i]) == w.machine(&due[0]) {
			w.few.firsts = append(w.few.firsts, i)
		}
	}
	return w.few.firsts
}

// Event implements [choice.World], as in "a request of client 1 at node 2".
func (w *World) Event(way uint64) string {
	e := &w.few.due[w.first()[way]]
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
	if c.world.few != nil {
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
