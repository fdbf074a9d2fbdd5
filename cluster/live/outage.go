package live

import (
	"math"
	"time"

	"github.com/lockstorm/lockstorm/cluster/wire"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
)

// comeback is how a server that is down comes up again.
type comeback struct {
	left  string     // what it still has, for a story
	state time.Time  // to which its machine is restored, if it is
	heir  Replicated // that answers beside it, if it is up and one of two masters
	dark  int        // the fault that took the power from its machine; 0: none did
	fault int        // that its machine brings to an end; 0: an operator does
	at    int64      // on the node's wall clock, if its machine does

	ending *ending // it is coming back
}

// goDown says that a node's server goes down. Its machine, which lives on, tells the
// clients.
func (w *World) goDown(node int, left string) {
	w.nemesis.await(w.comebacks[node-1].ending)
	w.injector.Record(history.Event{Kind: history.NodeDown, Node: node})
	w.states[node-1], w.comebacks[node-1] = down, comeback{left: left}
}

// goDark says that the power goes. Nobody is told: what comes to the machine, and what it
// has said, waits for one that is back and knows nothing of its connections any more.
func (w *World) goDark(node, fault int) {
	w.silence(node, fault, w.setting.Persistence.KeepsWithoutPower())
}

// silence says that a node's machine has gone, of whose server so much is left.
func (w *World) silence(node, fault int, left string) {
	w.eachWay(node, func(l *wire.Way) { l.Impose(fault, nemesis.Silence()) })
	w.goDown(node, left)
	w.comebacks[node-1].dark = fault
}

// comeUp starts a server again, and so ends a fault.
func (w *World) comeUp(node, fault int) {
	server := w.crasher(node)
	w.comeBack(node, fault, func() error { return server.Start(w.over) }, func() {})
}

// comeBack has a node back, and so ends a fault: how it comes back takes its time, and
// what has to be done when it has does not.
func (w *World) comeBack(node, fault int, how func() error, back func()) {
	w.comebacks[node-1].ending = w.nemesis.end(fault, how, func() {
		back()
		was := w.comebacks[node-1]
		w.states[node-1], w.comebacks[node-1] = up, comeback{}
		if was.dark != 0 {
			w.eachWay(node, func(l *wire.Way) { l.Lift(was.dark) })
		}
		w.injector.Record(history.Event{Kind: history.NodeUp, Node: node, Detail: was.left})
	})
}

// eachWay does something to all ways to and from a node.
func (w *World) eachWay(node int, do func(*wire.Way)) {
	for client := 1; client <= w.setting.Clients; client++ {
		w.network.Link(client, node).Each(nemesis.Both, do)
	}
}

// restartAfter makes a node's machine start its server again, and so end a fault, when
// the node's wall clock has gone on by a delay. With no delay that is left to an
// operator.
func (w *World) restartAfter(node, fault int, delay time.Duration) {
	if delay > 0 {
		w.comebacks[node-1].fault, w.comebacks[node-1].at = fault, w.walls[node-1].At(w.ground.now())+int64(delay)
		w.awaitRestart(node)
	}
}

// awaitRestart has a look taken at a node's clock when it is time to start its server, as
// the clock runs now. It has to be called when that changes.
func (w *World) awaitRestart(node int) {
	back := w.comebacks[node-1]
	if back.fault == 0 {
		return
	}
	at := max(w.walls[node-1].When(back.at), w.ground.now())
	if at == math.MaxInt64 {
		return
	}
	w.nemesis.later(at, func() {
		if w.comebacks[node-1].fault != back.fault || w.comebacks[node-1].at != back.at || w.walls[node-1].At(w.ground.now()) < back.at {
			return // it has come back, or its clock was changed, and another look is to come
		}
		w.comebacks[node-1].fault = 0
		w.comeUp(node, back.fault)
	})
}
