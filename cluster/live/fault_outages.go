package live

import (
	"math"
	"time"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/world"
)

// Outages is what can be done to a fleet of [Crasher]s.
func Outages() Repertoire {
	return Repertoire{
		world.Carry(
			func(w *World, c world.Case[*nemesis.Crash]) error {
				w.goDown(c.Action.Node, Crasher.Kill)
				w.restartAfter(c.Action.Node, c.Number, c.Action.RestartDelay)
				return nil
			},
			func(w *World, c world.Case[*nemesis.Crash]) error { w.comeUp(c.Action.Node, c.Number); return nil },
		).EndingLate().With(nemesis.RestartDelayFeature),
		world.Carry(
			func(w *World, c world.Case[*nemesis.Shutdown]) error {
				w.goDown(c.Action.Node, Crasher.Quit)
				w.restartAfter(c.Action.Node, c.Number, c.Action.RestartDelay)
				return nil
			},
			func(w *World, c world.Case[*nemesis.Shutdown]) error { w.comeUp(c.Action.Node, c.Number); return nil },
		).EndingLate().With(nemesis.RestartDelayFeature),
	}
}

func (w *World) crasher(node int) Crasher { return w.server(node).(Crasher) }

// goDown takes a node's server down.
func (w *World) goDown(node int, how func(Crasher)) {
	w.carrier.Record(history.Event{Kind: history.NodeDown, Node: node})
	w.states[node-1] = down
	how(w.crasher(node))
}

// comeUp starts it again, and so ends a fault.
func (w *World) comeUp(node, fault int) {
	w.nemesis.end(fault, func() error { return w.crasher(node).Start(w.over) }, func() {
		w.states[node-1] = up
		w.carrier.Record(history.Event{Kind: history.NodeUp, Node: node, Detail: w.setting.Persistence.Keeps()})
	})
}

// comeback is when a node's machine starts its server again, by itself.
type comeback struct {
	fault int   // that it brings to an end; 0: an operator does
	at    int64 // on the node's wall clock
}

// restartAfter makes a node's machine start its server again, and so end a fault, when
// the node's wall clock has gone on by a delay. With no delay that is left to an
// operator.
func (w *World) restartAfter(node, fault int, delay time.Duration) {
	if delay > 0 {
		w.comebacks[node-1] = comeback{fault, w.walls[node-1].At(w.ground.now()) + int64(delay)}
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
		if w.comebacks[node-1] != back || w.walls[node-1].At(w.ground.now()) < back.at {
			return // it has come back, or its clock was changed, and another look is to come
		}
		w.comebacks[node-1] = comeback{}
		w.comeUp(node, back.fault)
	})
}
