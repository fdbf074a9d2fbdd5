package sim

import (
	"time"

	"github.com/lockstorm/lockstorm/history"
)

// recovery says how a server that is down starts again.
type recovery struct {
	left    string // which keys it still has, for the report
	fault   int    // number of the fault that the machine ends itself; 0: the plan ends it
	at      int64  // restart time on the node's wall clock, if the machine restarts it
	checkAt int64  // ground time of the next check of that clock

	state snapshot // to which a vm-restore restores the machine
}

// snapshot is the state of a node at a ground time, and its position in the journal.
type snapshot struct {
	at       int64
	position int
}

// goDown takes a node's server down. Its machine stays up and resets the
// connections.
func (w *World) goDown(n *node, left string) {
	w.die(n, left)
	w.hangUp(n)
}

// goDark cuts the power of a node's machine, perhaps for good. No client is told:
// messages wait for the machine, which resets their connections when it is back.
func (w *World) goDark(n *node, left string, forGood bool) {
	w.die(n, left)
	w.silence(n, forGood)
}

// silence makes the machine of a server that is down unreachable.
func (w *World) silence(n *node, forGood bool) {
	n.dark, n.forGood = true, forGood
	for _, i := range n.unanswered() {
		w.letWait(n, i)
	}
}

// die ends the process of a node's server.
func (w *World) die(n *node, left string) {
	n.loadLater()
	w.vanish(n, left)
}

// vanish makes a node's server unavailable, whether its process died or not.
func (w *World) vanish(n *node, left string) {
	n.down, n.syncing, n.evicting = true, false, eviction{}
	n.deaths++
	n.recovery = recovery{left: left}
	w.injector.Record(history.Event{Kind: history.NodeDown, Node: n.id})
	w.leaveBehind(n)
	w.leaderChanged()
}

// comeUp starts a node's server again.
func (w *World) comeUp(n *node) {
	n.run++
	w.resume(n)
}

// resume makes a server available again. A machine that was dark resets the
// connections from before.
func (w *World) resume(n *node) {
	n.down = false
	if n.dark {
		n.dark = false
		w.hangUp(n)
	}
	w.injector.Record(history.Event{Kind: history.NodeUp, Node: n.id, Detail: n.recovery.left})
	w.leaderChanged()
}

// restartAfter makes a node's machine restart its server, and so end a fault, when
// the node's wall clock has advanced by delay. With no delay the plan ends the fault.
func (w *World) restartAfter(n *node, fault int, delay time.Duration) {
	if delay > 0 {
		n.recovery.fault, n.recovery.at, n.recovery.checkAt = fault, n.wall.At(w.now)+int64(delay), noTimer
		w.awaitRestart(n)
	}
}

// clockChanged has to be called when a node's clocks were set or changed their rate.
func (w *World) clockChanged(n *node) {
	w.nextExpiry = w.now // to be computed again
	if w.store != nil && w.store.leader == n.id {
		w.awaitSessions()
	}
	if n.down && n.recovery.fault != 0 {
		w.awaitRestart(n)
	}
}

// awaitRestart schedules a check of the node's clock for when it should reach the
// restart time. A check that comes too early schedules the next one.
func (w *World) awaitRestart(n *node) {
	at := max(n.wall.When(n.recovery.at), w.now)
	if at < n.recovery.checkAt {
		n.recovery.checkAt = at
		w.later(at, func() { w.restart(n, at) })
	}
}

// restart starts a server again if its restart time has come.
func (w *World) restart(n *node, checkAt int64) {
	if !n.down || n.recovery.fault == 0 || n.recovery.checkAt != checkAt {
		return
	}
	if n.wall.At(w.now) < n.recovery.at {
		n.recovery.checkAt = noTimer
		w.awaitRestart(n)
		return
	}
	w.injector.Finish(n.recovery.fault, func() { w.comeUp(n) })
}
