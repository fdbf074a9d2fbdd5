package sim

import (
	"maps"
	"slices"
	"time"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/nemesis"
)

// serve handles a request that has arrived at a node.
func (w *World) serve(n *node, i int32) {
	m := w.network.messages.at(i)
	switch {
	case n.down && !n.unpowered:
		m.answer, m.cause = env.Failed, refused
	case n.down, n.stopped, n.syncing:
		w.holdRequest(n, i)
		return
	case m.storeRequest != nil:
		w.handleStoreRequest(n, i)
		return
	case n.scriptMissing[m.round.command.Op] && !m.withScript && !m.native() && n.failing != loading:
		m.answer, m.cause = env.Failed, noScript
	default:
		w.perform(n, m)
		if n.fsync != nil && n.dirty && w.sync(n) {
			n.answering = i
			return
		}
	}
	w.reply(i)
}

// holdRequest leaves a request in the socket of a node that reads nothing at present. If
// the node never will, the request is dropped, so that memory does not grow with the
// length of the run.
func (w *World) holdRequest(n *node, i int32) {
	if n.forGood {
		w.forgetRequest(i)
	} else {
		n.waiting = append(n.waiting, i)
	}
}

// forgetRequest drops a request that will never be answered.
func (w *World) forgetRequest(i int32) {
	m := w.network.messages.take(i)
	if c := m.connection; c != nil {
		c.awaiting = slices.DeleteFunc(c.awaiting, func(r *round) bool { return r == m.round })
	}
}

// perform executes a request.
func (w *World) perform(n *node, m *message) {
	n.dirty = false
	if n.journal != nil {
		n.journal.begin(w.now)
	}
	m.answer = w.execute(n, m)
	if m.answer == env.Failed && m.cause == 0 {
		m.cause = n.failing
	}
	if m.withScript && n.failing != loading {
		n.scriptMissing[m.round.command.Op] = false
	}
}

// sync makes a node wait for its disk, and reports whether that takes time.
func (w *World) sync(n *node) bool {
	d := n.random.draw(n.fsync)
	if d == 0 {
		return false
	}
	n.syncing = true
	deaths := n.stops
	w.later(w.now+d, func() {
		if n.stops == deaths {
			n.syncing = false
			w.proceed(n)
		}
	})
	return true
}

// busy reports whether a node's thread cannot run.
func (n *node) busy() bool { return n.down || n.stopped || n.syncing }

// proceed continues a node's thread: it sends the pending answer, evicts keys if
// requested, and then reads its socket.
func (w *World) proceed(n *node) {
	if n.busy() {
		return
	}
	w.answer(n)
	w.evict(n)
	for len(n.waiting) > 0 && !n.syncing {
		i := n.waiting[0]
		n.waiting = n.waiting[1:]
		w.handleAtNode(i)
	}
}

// evict removes keys from a node if a fault has requested it.
func (w *World) evict(n *node) {
	e := n.evicting
	if e.of == nil {
		return
	}
	n.evicting = eviction{}
	w.injector.OnBehalf(e.fault, func() {
		w.forgetEvery(n, e.takes, history.Evicted)
		if e.of.Policy == nemesis.AllKeys && e.of.Resource == "" {
			n.attested, n.dirty = nil, true // attestations are keys without a TTL
		}
	})
}

// answer sends the answer to the command that the node has executed.
func (w *World) answer(n *node) {
	if i := n.answering; i != noMessage {
		n.answering = noMessage
		w.reply(i)
	}
}

// unanswered removes and returns the requests that a node has not answered, in their
// order.
func (n *node) unanswered() []int32 {
	left := n.waiting
	if n.answering != noMessage {
		left = append([]int32{n.answering}, left...)
	}
	n.answering, n.waiting = noMessage, nil
	return left
}

// breakConnections breaks the connections to a node. Requests that it has not answered, or
// that are on their way to it, are lost.
func (w *World) breakConnections(n *node) {
	for _, i := range n.unanswered() {
		if c := w.network.messages.at(i).connection; c != nil && c.broken {
			w.network.messages.take(i)
		} else {
			w.resetConnection(i)
		}
	}
	for _, c := range w.clients {
		w.resetUnderWay(c.id, n.id, nemesis.Requests)
	}
}

// forgetScripts empties the script cache of a node.
func (n *node) forgetScripts() {
	for _, op := range [...]env.Op{env.OpDelete, env.OpExtend, env.OpRaise} {
		n.scriptMissing[op] = true
	}
}

// sendScript sends a request again as a script: see [message.asScript]. A paused client
// does so when it resumes. For a request that was given up nothing is sent.
func (w *World) sendScript(i int32) {
	m := w.network.messages.at(i)
	r := m.round
	again := pending{round: r, withScript: m.cause == noScript, rejected: r.command.Native}
	switch {
	case r.client.stopped():
		r.client.unsent = append(r.client.unsent, i)
	case !r.pending.Has(int(m.node)) || r.client.mono() >= r.giveUp:
		w.network.messages.take(i)
	case w.network.connections.Batched:
		node := int(m.node)
		w.network.messages.take(i)
		w.network.link(r.client.id, node).batches.submit(again)
	default:
		m.withScript, m.rejected, m.answer, m.cause, m.resent = again.withScript, again.rejected, 0, 0, 0
		if m.connection != nil {
			w.enqueue(i, w.network.linkOf(m).sharedConnection())
		}
		w.transmit(i)
	}
}

// sendUnsent sends the scripts that the client could not send while it was paused.
func (c *client) sendUnsent() {
	unsent := c.unsent
	c.unsent = nil
	for _, i := range unsent {
		c.world.sendScript(i)
	}
}

// crash takes a node's server down. Its machine stays up and resets the
// connections.
func (w *World) crash(n *node, left string) {
	n.forgetScripts()
	w.vanish(n, left)
	w.breakConnections(n)
}

// cutPower cuts the power of a node's machine, perhaps for good. Clients do not notice:
// messages wait for the machine, which resets their connections when it is back.
func (w *World) cutPower(n *node, left string, forGood bool) {
	n.forgetScripts()
	w.vanish(n, left)
	w.makeUnreachable(n, forGood)
}

// makeUnreachable makes the machine of a server that is down unreachable.
func (w *World) makeUnreachable(n *node, forGood bool) {
	n.unpowered, n.forGood = true, forGood
	for _, i := range n.unanswered() {
		w.holdRequest(n, i)
	}
}

// stop stops a node's server. If it is stopped by a pause of its clients, no key expires meanwhile.
func (w *World) stop(n *node, clients, forGood bool) {
	n.stopped, n.frozen, n.forGood = true, clients, forGood
}

// goOn ends a stop. The keys that were due meanwhile expire now.
func (w *World) goOn(n *node) {
	if n.frozen {
		n.frozen, n.thawed, w.nextExpiry = false, w.now, w.now
		if w.store != nil && w.store.leader == n.id {
			w.awaitExpiry()
		}
	}
	n.stopped = false
}

// takeOver starts a server in place of a node's, on a machine whose clock may differ.
func (w *World) takeOver(n *node, fault int, by nemesis.Action) {
	w.clocks.Begin(fault, by.Effects(w.setting).Clock)
	w.comeUp(n)
}

// vanish makes a node's server unavailable, whether its process died or not.
func (w *World) vanish(n *node, left string) {
	n.down, n.syncing, n.evicting = true, false, eviction{}
	n.stops++
	n.recovery = recovery{left: left}
	w.injector.Record(history.Event{Kind: history.NodeDown, Node: n.id})
	w.requeueHeld(n)
	w.leaderChanged()
}

// comeUp starts a node's server again.
func (w *World) comeUp(n *node) {
	n.run++
	w.resume(n)
}

// restoreMachine makes a node's machine available as it was at a snapshot.
func (w *World) restoreMachine(n *node, then snapshot) {
	w.rollBack(n, then.position)
	maps.DeleteFunc(n.attested, func(_ time.Duration, v attestation) bool { return v.at > then.at })
	w.resume(n)
}

// resume makes a server available again. A machine that was dark resets the
// connections from before.
func (w *World) resume(n *node) {
	n.down = false
	if n.unpowered {
		n.unpowered = false
		w.breakConnections(n)
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
		w.awaitExpiry()
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
