package sim

import (
	"time"

	"github.com/lockstorm/lockstorm/history"
)

// comeback is how a server that is down comes up again.
type comeback struct {
	left  string // what it still has, for a story
	fault int    // that its machine brings to an end; 0: an operator does
	at    int64  // on the node's wall clock, if its machine does
	turn  int64  // ground time of the earliest look at that clock

	state snapshot // to which its machine is restored, if it is
}

// snapshot is the state of a node at a ground time, and its position in the journal.
type snapshot struct {
	at       int64
	position int
}

// goDown takes a node's server down. Its machine, which lives on, tells the
// clients.
func (w *World) goDown(n *node, left string) {
	w.die(n, left)
	w.hangUp(n)
}

// goDark takes the power from a node's machine, perhaps for good. Nobody is told:
// what has come to it, and what comes, waits for a machine that knows nothing of
// its connections any more.
func (w *World) goDark(n *node, left string, forGood bool) {
	w.die(n, left)
	w.silence(n, forGood)
}

// silence takes away the machine of a server that is down.
func (w *World) silence(n *node, forGood bool) {
	n.dark, n.forGood = true, forGood
	for _, i := range n.unanswered() {
		w.letWait(n, i)
	}
}

// die makes an end of a node's server.
func (w *World) die(n *node, left string) {
	n.loadLater()
	w.vanish(n, left)
}

// vanish takes a node's server away, dead or not.
func (w *World) vanish(n *node, left string) {
	n.down, n.syncing, n.evicting = true, false, eviction{}
	n.deaths++
	n.comeback = comeback{left: left}
	w.injector.Record(history.Event{Kind: history.NodeDown, Node: n.id})
	w.leaveBehind(n)
	w.turnout()
}

// comeUp starts a node's server again.
func (w *World) comeUp(n *node) {
	n.run++
	w.resume(n)
}

// resume lets a server that was away answer. A machine that was dark turns back what
// comes on the connections of before.
func (w *World) resume(n *node) {
	n.down = false
	if n.dark {
		n.dark = false
		w.hangUp(n)
	}
	w.injector.Record(history.Event{Kind: history.NodeUp, Node: n.id, Detail: n.comeback.left})
	w.turnout()
}

// restartAfter makes a node's machine start its server again, and so end a
// fault, when the node's wall clock has gone on by a delay. With no delay that
// is left to an operator.
func (w *World) restartAfter(n *node, fault int, delay time.Duration) {
	if delay > 0 {
		n.comeback.fault, n.comeback.at, n.comeback.turn = fault, n.wall.At(w.now)+int64(delay), noTimer
		w.awaitRestart(n)
	}
}

// clockChanged has to be told that a node's clocks were set or run at another
// rate.
func (w *World) clockChanged(n *node) {
	w.nextExpiry = w.now // to be found anew
	if w.store != nil && w.store.leader == n.id {
		w.awaitSessions()
	}
	if n.down && n.comeback.fault != 0 {
		w.awaitRestart(n)
	}
}

// awaitRestart makes sure that a look is taken at the node's clock when it is
// time to restart, at the latest. One that was taken in vain is set anew.
func (w *World) awaitRestart(n *node) {
	at := max(n.wall.When(n.comeback.at), w.now)
	if at < n.comeback.turn {
		n.comeback.turn = at
		w.later(at, func() { w.restart(n, at) })
	}
}

// restart starts a server again if the time has come.
func (w *World) restart(n *node, turn int64) {
	if !n.down || n.comeback.fault == 0 || n.comeback.turn != turn {
		return
	}
	if n.wall.At(w.now) < n.comeback.at {
		n.comeback.turn = noTimer
		w.awaitRestart(n)
		return
	}
	w.injector.Finish(n.comeback.fault, func() { w.comeUp(n) })
}
