package sim

import (
	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/internal/world"
	"github.com/lockstorm/lockstorm/nemesis"
)

// deliverToNode delivers request i to its node. A proxy in front of the node may send a
// copy too.
func (w *World) deliverToNode(i int32) {
	m := w.network.messages.at(i)
	if how := w.network.linkOf(m).requests.copies; how != nil && !m.reset {
		second := w.network.messages.put(message{round: m.round, sent: m.sent, client: m.client, node: m.node, withScript: m.withScript, rejected: m.rejected, copy: true})
		w.queue.push(w.now+how.random.draw(how.after), requestArrives, second)
	}
	w.handleAtNode(i)
}

// queueUp appends a message to those that wait to leave in a direction.
func (w *World) queueUp(i int32, l *linkDirection) {
	b := l.bandwidth
	b.waiting = append(b.waiting, i)
	if len(b.waiting) == 1 {
		w.scheduleLeave(l, b)
	}
}

// scheduleLeave schedules when the first waiting message leaves, unless the limit is
// lifted before.
func (w *World) scheduleLeave(l *linkDirection, b *bandwidth) {
	takes := b.takes(size(w.network.messages.at(b.waiting[0])))
	w.later(w.now+takes, func() {
		if l.bandwidth != b {
			return
		}
		first := b.waiting[0]
		b.waiting = b.waiting[1:]
		w.sendNow(first, l)
		if len(b.waiting) > 0 {
			w.scheduleLeave(l, b)
		}
	})
}

// liftLimit removes the bandwidth limit of a direction. Waiting messages are sent at once.
func (w *World) liftLimit(l *linkDirection) {
	line := l.bandwidth.waiting
	l.bandwidth = nil
	for _, i := range line {
		w.sendNow(i, l)
	}
}

// resetBy resets the connection of a message that is at the node, because its direction is reset.
func (w *World) resetBy(l *linkDirection, i int32) {
	by, m := l.resets, w.network.messages.at(i)
	client, node := int(m.client), int(m.node)
	w.resetConnection(i)
	if by != resetAll {
		l.resets = resetNone
		w.struck(int(by), client, node)
	}
}

// struck ends a fault that resets once on a link that it has struck, and as a whole after its last link.
func (w *World) struck(fault, client, node int) {
	link, all := w.strikes[fault].Strike(client, node)
	mend := func() { w.endLinkFault(world.OneLink(client, node), untouched) }
	switch {
	case all:
		w.scheduler.Over(fault, mend)
	case link:
		w.injector.OnBehalf(fault, mend)
	}
}

// loses draws whether message i is lost. A lost message is sent again after the
// retransmission timeout, over the link as it is then. After too many losses its
// connection is reset.
func (w *World) loses(i int32, l *linkDirection) bool {
	m := w.network.messages.at(i)
	if m.reset || !l.loss.hits() {
		return false
	}
	timeout := w.now + int64(l.loss.fault.Timeout(int(m.resent)))
	if m.resent == nemesis.Retransmissions {
		w.later(timeout, func() { w.failTransmission(i) })
		return true
	}
	m.resent++
	w.later(timeout, func() { w.transmit(i) })
	return true
}

// failTransmission resets the connection of a message that could not be sent. The client
// learns at once that its own request was not sent.
func (w *World) failTransmission(i int32) {
	m := w.network.messages.at(i)
	c := m.connection
	switch {
	case m.answer != 0:
		w.resetConnection(i)
	case c != nil:
		w.sever(c)
		w.closed(i)
	default:
		m.answer, m.cause = env.Lost, brokenOff
		w.answered(i)
	}
}

// resetConnection resets the connection of a message that is at the node. Everything on
// the connection is lost, and the message becomes the reset that the client sees.
// The reset travels like a reply: a partition holds it back, but loss does not
// apply. The client learns nothing of a copy.
func (w *World) resetConnection(i int32) {
	m := w.network.messages.at(i)
	if m.copy {
		w.network.messages.take(i)
		return
	}
	m.answer, m.cause, m.reset = env.Lost, brokenOff, true
	w.resetBackend(m.storeRequest)
	if m.connection != nil {
		w.sever(m.connection)
	}
	w.transmit(i)
}

// resetUnderWay resets the connections between a client and a node that carry
// messages in that direction. A request on a connection of its own travels on to
// the node, which rejects it; a reply becomes a reset where it is.
func (w *World) resetUnderWay(client, node int, way nemesis.Direction) {
	for _, c := range w.network.link(client, node).shared() {
		if c.carries(way) {
			w.resetConnection(w.network.messages.put(message{connection: c, client: int32(client), node: int32(node)}))
		}
	}
	for i := range w.network.messages.all {
		m := &w.network.messages.all[i]
		switch {
		case m.round == nil || m.copy || m.connection != nil || int(m.client) != client || int(m.node) != node:
		case m.answer == 0 && way.Includes(nemesis.Requests):
			m.reset = true
			w.breakHeld(m.storeRequest)
		case m.answer != 0 && way.Includes(nemesis.Replies):
			m.answer, m.cause, m.reset = env.Lost, brokenOff, true
			w.resetBackend(m.storeRequest)
		}
	}
}

// carries reports whether a message is under way in that direction. A request that
// the node is processing counts for both directions.
func (c *connection) carries(way nemesis.Direction) bool {
	there, back := len(c.requests.slots), len(c.replies.slots)
	return !c.broken && (len(c.awaiting) > there+back ||
		way.Includes(nemesis.Requests) && there > 0 || way.Includes(nemesis.Replies) && back > 0)
}
