package sim

import (
	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/nemesis"
	"github.com/lockstorm/lockstorm/world"
)

var resetting = world.Carry(
	func(w *World, c world.Case[*nemesis.Reset]) error {
		w.links.Disturb(c.Action.Links, func(client, node int) {
			w.network.link(client, node).each(c.Action.Way, func(l *lane) { l.resets = true })
			w.breakUnderWay(client, node, c.Action.Way)
		})
		return nil
	},
	func(w *World, c world.Case[*nemesis.Reset]) error {
		w.mend(c.Action.Links, c.Action.Way, func(l *lane) { l.resets = false })
		return nil
	},
)

// breakOff resets the connection of a message that is at the node: what is on
// it is lost, and the message turns into the news of that for the client. The
// news goes the way of a reply: a cut holds it back, only loss does not touch
// it. Of a copy the client hears nothing.
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
// something in that direction. A request that has its connection to itself
// goes on to the node, to be turned back there; a reply turns into the news
// where it is.
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
		case m.answer == 0 && way.Has(nemesis.Requests):
			m.reset = true
			w.breakHeld(m.question)
		case m.answer != 0 && way.Has(nemesis.Replies):
			m.answer, m.cause, m.reset = env.Lost, brokenOff, true
		}
	}
}

// carries reports whether something is under way in that direction. What is at
// the node, and neither on its way there nor back, is under way in both.
func (c *connection) carries(way nemesis.Direction) bool {
	there, back := len(c.requests.places), len(c.replies.places)
	return !c.broken && (len(c.asked) > there+back ||
		way.Has(nemesis.Requests) && there > 0 || way.Has(nemesis.Replies) && back > 0)
}
