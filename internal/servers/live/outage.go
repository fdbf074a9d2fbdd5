package live

import (
	"math"
	"time"

	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/servers/wire"
	"github.com/lockstorm/lockstorm/nemesis"
)

// recovery says how a server that is down starts again.
type recovery struct {
	left     string     // which keys it still has, for the report
	state    time.Time  // to which a vm-restore restores the machine
	promoted Replicated // the second master during a split brain
	dark     int        // number of the fault that cut the machine's power, or 0
	fault    int        // number of the fault that the machine ends itself; 0: the plan ends it
	at       int64      // restart time on the node's wall clock, if the machine restarts it

	ending *slowEnding // the restart in progress, or nil
}

// goDown records that a node's server goes down. Its machine stays up and resets the
// connections.
func (w *World) goDown(node int, left string) {
	w.plan.awaitEnd(w.recoveries[node-1].ending)
	w.injector.Record(history.Event{Kind: history.NodeDown, Node: node})
	w.states[node-1], w.recoveries[node-1] = down, recovery{left: left}
}

// goDark cuts a node off as a power loss does. No client is told: messages in both
// directions wait until the machine is back, which resets their connections.
func (w *World) goDark(node, fault int) {
	w.silence(node, fault, w.setting.Persistence.KeepsWithoutPower())
}

// silence makes a node's machine unreachable. left says which keys its server keeps.
func (w *World) silence(node, fault int, left string) {
	w.eachDirection(node, func(l *wire.Direction) { l.Impose(fault, nemesis.HoldAll()) })
	w.goDown(node, left)
	w.recoveries[node-1].dark = fault
}

// comeUp starts a server again and so ends a fault.
func (w *World) comeUp(node, fault int) {
	server := w.crasher(node)
	w.recover(node, fault, func() error { return server.Start(w.over) }, func() {})
}

// recover brings a node back and so ends a fault. restart runs in the background; back
// runs when it is done, with the lock held.
func (w *World) recover(node, fault int, restart func() error, back func()) {
	w.recoveries[node-1].ending = w.plan.endLater(fault, restart, func() {
		back()
		was := w.recoveries[node-1]
		w.states[node-1], w.recoveries[node-1] = up, recovery{}
		if was.dark != 0 {
			w.eachDirection(node, func(l *wire.Direction) { l.Lift(was.dark) })
		}
		w.injector.Record(history.Event{Kind: history.NodeUp, Node: node, Detail: was.left})
	})
}

// eachDirection calls do with both directions of every link of a node.
func (w *World) eachDirection(node int, do func(*wire.Direction)) {
	for client := 1; client <= w.setting.Clients; client++ {
		w.network.Link(client, node).Each(nemesis.Both, do)
	}
}

// restartAfter makes a node's machine restart its server, and so end a fault, when the
// node's wall clock has advanced by delay. With no delay the plan ends the fault.
func (w *World) restartAfter(node, fault int, delay time.Duration) {
	if delay > 0 {
		w.recoveries[node-1].fault, w.recoveries[node-1].at = fault, w.walls[node-1].At(w.ground.now())+int64(delay)
		w.awaitRestart(node)
	}
}

// awaitRestart schedules a check of a node's clock for when it should reach the restart
// time. It has to be called when the clock changes.
func (w *World) awaitRestart(node int) {
	back := w.recoveries[node-1]
	if back.fault == 0 {
		return
	}
	at := max(w.walls[node-1].When(back.at), w.ground.now())
	if at == math.MaxInt64 {
		return
	}
	w.plan.later(at, func() {
		if w.recoveries[node-1].fault != back.fault || w.recoveries[node-1].at != back.at || w.walls[node-1].At(w.ground.now()) < back.at {
			return // the node is back, or its clock was changed and another check is scheduled
		}
		w.recoveries[node-1].fault = 0
		w.comeUp(node, back.fault)
	})
}
