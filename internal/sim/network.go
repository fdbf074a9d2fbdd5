package sim

import (
	"github.com/lockstorm/lockstorm/env"
)

// Len implements [env.Nodes].
func (c *client) Len() int { return c.world.network.nodes }

// Send implements [env.Nodes].
func (c *client) Send(to env.NodeSet, command env.Command, giveUp env.Instant) env.Round {
	c.enter()
	w := c.world
	r := w.rounds.next()
	r.client, r.command, r.giveUp, r.pending = c, command, giveUp, to
	r.key = w.keyNames.number(command.Key)
	w.sends++
	r.number = w.sends
	r.replies = r.room[:0]
	for rest := to; rest != 0; {
		node := rest.First()
		rest = rest.Without(node)
		switch {
		case w.network.connections.Limit > 0:
			c.sendPooled(r, node)
		case w.network.connections.Pipelined:
			c.sendPipelined(r, node)
		case w.network.connections.Batched:
			c.sendBatched(r, node)
		default:
			c.sendAlone(r, node, nil)
		}
	}
	return r
}

// sendAlone sends a request over a connection of its own. q is the store request if the
// request goes to the store.
func (c *client) sendAlone(r *round, node int, q *storeRequest) {
	w := c.world
	w.transmit(w.network.messages.put(message{round: r, storeRequest: q, sent: w.now, client: int32(c.id), node: int32(node)}))
}

// transmit sends message i, after the messages that wait for bandwidth in its direction.
func (w *World) transmit(i int32) {
	if l := w.network.direction(w.network.messages.at(i)); l.bandwidth != nil {
		w.queueUp(i, l)
	} else {
		w.sendNow(i, l)
	}
}

// sendNow sends a message that does not wait for bandwidth: it schedules its arrival, unless it is lost.
func (w *World) sendNow(i int32, l *linkDirection) {
	if l.loss != nil && w.loses(i, l) {
		return
	}
	m, arrival := w.network.messages.at(i), requestArrives
	if m.answer != 0 {
		arrival = replyArrives
	}
	takes := w.takes(l)
	if len(l.rules) > 0 {
		takes += int64(l.rules.Delay(m.seen()))
	}
	w.queue.push(w.now+takes, arrival, i)
}

// arrives handles a message at the end of its link. On a shared connection it waits for earlier messages.
func (w *World) arrives(i int32) {
	m := w.network.messages.at(i)
	if m.copy { // from a proxy beside the node, so no link holds it back
		w.handleAtNode(i)
		return
	}
	if l := w.network.direction(m); len(l.rules) > 0 && w.holds(l, i) {
		return
	}
	switch c := m.connection; {
	case c != nil && m.answer == 0:
		w.receiveRequest(i, c)
	case c != nil:
		w.receiveReply(i, c)
	case m.answer == 0:
		w.deliverToNode(i)
	default:
		w.answered(i)
	}
}

// handleAtNode handles request i at its node, unless its connection is reset.
func (w *World) handleAtNode(i int32) {
	m := w.network.messages.at(i)
	switch {
	case m.copy:
		w.serve(&w.nodes[m.node-1], i)
	case m.connection != nil && m.connection.broken:
		w.network.messages.take(i)
	case m.reset:
		w.resetConnection(i)
	case w.network.linkOf(m).requests.resets != resetNone:
		w.resetBy(&w.network.linkOf(m).requests, i)
	default:
		w.serve(w.masterFor(m), i)
	}
}

// reply sends a node's answer, in message i, to the client. The answer to a copy is dropped.
func (w *World) reply(i int32) {
	m := w.network.messages.at(i)
	w.trace.words(uint64(w.now), uint64(m.client)<<32|uint64(m.node), uint64(m.answer))
	if m.copy {
		w.network.messages.take(i)
		return
	}
	m.resent = 0
	replies := &w.network.linkOf(m).replies
	switch c := m.connection; {
	case c != nil && c.broken:
		w.network.messages.take(i)
		return
	case !m.reset && replies.resets != resetNone:
		w.resetBy(replies, i)
		return
	case c != nil:
		c.replies.push(i)
	}
	w.transmit(i)
}

// answered hands a reply, or the news of a reset, to the client. If the reply says that a
// script is missing, or rejects a native command, the client's transport handles it.
func (w *World) answered(i int32) {
	m := w.network.messages.at(i)
	w.network.arrived(int(m.node), m.round, m.answer, m.cause)
	if m.asScript() {
		w.sendScript(i)
		return
	}
	node, r, answer, why := int(m.node), m.round, m.answer, m.cause
	w.network.messages.take(i)
	r.deliver(node, answer, why)
}

// arrived tells the client's batches that one of their requests is over.
func (n *network) arrived(node int, r *round, answer env.Answer, why cause) {
	if b := n.link(r.client.id, node).batches; b != nil {
		b.arrived(r, answer, why)
	}
}

// holds reports whether a rule holds back message i, which is about to arrive. If so, it
// keeps the message until the rule is lifted. If the rule never ends, it drops the message,
// so that memory does not grow with the length of the run.
func (w *World) holds(l *linkDirection, i int32) bool {
	held, forGood := l.rules.Holds(w.network.messages.at(i).seen())
	switch {
	case forGood:
		if m := w.network.messages.take(i); m.connection != nil {
			m.connection.discard(i, m.reset)
		}
	case held:
		l.held = append(l.held, i)
	}
	return held
}

// lift removes the rule of a fault from a direction. It transmits the messages that were held
// back, unless another rule holds them.
func (w *World) lift(l *linkDirection, fault int) {
	l.rules = l.rules.Without(fault)
	held := l.held
	l.held = held[:0] // reuses the array: holds appends no faster than the loop reads
	for _, i := range held {
		if !w.holds(l, i) {
			w.transmit(i)
		}
	}
}

// masterFor returns the master that a message reaches. During a split brain a node has two.
func (w *World) masterFor(m *message) *node {
	n := &w.nodes[m.node-1]
	if n.peer != nil && m.storeRequest == nil && !n.split.Old(int(m.client)) {
		return n.peer
	}
	return n
}
