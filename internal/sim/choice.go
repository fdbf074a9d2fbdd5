package sim

import (
	"errors"
	"fmt"
	"slices"

	"github.com/lockstorm/lockstorm/internal/choice"
)

// errStopped is the error of a run that its driver has ended.
var errStopped = errors.New("sim: the run was ended by its driver")

// Drive lets a driver make the choices of the run, in place of the seed. It has to be called before Run.
// [choice.Random] says what follows from the seed all the same.
func (w *World) Drive(g choice.Grain, d choice.Driver) {
	w.network.setPoints()
	if w.driver = d; g.Latencies > 0 {
		w.few = &few{Grain: g}
	}
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
