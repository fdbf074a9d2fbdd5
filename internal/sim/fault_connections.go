package sim

import (
	"math/bits"
	"math/rand/v2"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/nemesis"
)

var connectionFaults = handlers{
	handler[*nemesis.Loss]{
		Begin: func(w *World, f injection[*nemesis.Loss]) error {
			on := &loss{fault: f.Action, random: nemesis.Stream(w.seed, f.Stream())}
			w.disturb(f.Action.Links, f.Action.Way, func(l *linkDirection) { l.loss = on })
			return nil
		},
		End: func(w *World, f injection[*nemesis.Loss]) error {
			w.mend(f.Action.Links, f.Action.Way, func(l *linkDirection) { l.loss = nil })
			return nil
		},
	},
	handler[*nemesis.Reset]{
		Begin: func(w *World, f injection[*nemesis.Reset]) error {
			w.links.Disturb(f.Action.Links, func(client, node int) {
				w.network.link(client, node).each(f.Action.Way, func(l *linkDirection) { l.resets = true })
				w.breakUnderWay(client, node, f.Action.Way)
			})
			return nil
		},
		End: func(w *World, f injection[*nemesis.Reset]) error {
			w.mend(f.Action.Links, f.Action.Way, func(l *linkDirection) { l.resets = false })
			return nil
		},
	},
}

// loss loses transmissions over a link direction.
type loss struct {
	fault  *nemesis.Loss
	random *rand.PCG // the fault's own
}

// hits draws whether a transmission is lost.
func (l *loss) hits() bool {
	draw, _ := bits.Mul64(l.random.Uint64(), 100)
	return int(draw) < l.fault.Percent
}

// loses draws whether message i is lost. A lost message is sent again after the
// retransmission timeout, over the link as it is then. After too many losses its
// connection is reset.
func (w *World) loses(i int32, l *linkDirection, arrival class) bool {
	m := w.network.messages.at(i)
	if m.reset || !l.loss.hits() {
		return false
	}
	timeout := w.now + int64(l.loss.fault.Timeout(int(m.again)))
	if m.again == nemesis.Retransmissions {
		w.later(timeout, func() { w.neverSent(i, arrival) })
		return true
	}
	m.again++
	w.later(timeout, func() { w.transmit(i, l, arrival) })
	return true
}

// neverSent resets the connection of a message that could not be sent. The client
// learns at once that its own request was not sent.
func (w *World) neverSent(i int32, arrival class) {
	m := w.network.messages.at(i)
	c := m.connection
	switch {
	case arrival == replyArrives:
		w.breakOff(i)
	case c != nil:
		w.sever(c)
		w.closed(i)
	default:
		m.answer, m.cause = env.Lost, brokenOff
		w.answered(i)
	}
}

// breakOff resets the connection of a message that is at the node. Everything on
// the connection is lost, and the message becomes the reset that the client sees.
// The reset travels like a reply: a partition holds it back, but loss does not
// apply. The client learns nothing of a copy.
func (w *World) breakOff(i int32) {
	m := w.network.messages.at(i)
	if m.copy {
		w.network.messages.take(i)
		return
	}
	m.answer, m.cause, m.reset = env.Lost, brokenOff, true
	if m.connection != nil {
		w.sever(m.connection)
	}
	w.sendReply(i)
}

// breakUnderWay resets the connections between a client and a node that carry
// messages in that direction. A request on a connection of its own travels on to
// the node, which rejects it; a reply becomes a reset where it is.
func (w *World) breakUnderWay(client, node int, way nemesis.Direction) {
	for _, c := range w.network.link(client, node).shared() {
		if c.carries(way) {
			w.breakOff(w.network.messages.put(message{connection: c, client: int32(client), node: int32(node)}))
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
		}
	}
}

// carries reports whether a message is under way in that direction. A request that
// the node is processing counts for both directions.
func (c *connection) carries(way nemesis.Direction) bool {
	there, back := len(c.requests.places), len(c.replies.places)
	return !c.broken && (len(c.asked) > there+back ||
		way.Includes(nemesis.Requests) && there > 0 || way.Includes(nemesis.Replies) && back > 0)
}
