package sim

import (
	"context"
	"slices"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/internal/world"
	"github.com/lockstorm/lockstorm/nemesis"
)

// connection carries several requests of a client to a node and their replies. Each
// direction keeps its order.
type connection struct {
	requests, replies inFlight

	// awaiting are the rounds whose replies are due on the connection, in the order of
	// their requests.
	awaiting []*round

	// broken: everything on the connection is lost, and so is what the client sends until
	// it learns of that. lossUnseen: it never will.
	broken     bool
	lossUnseen bool
}

// sendPipelined sends a request over the client's only connection to a node.
func (c *client) sendPipelined(r *round, node int) {
	w := c.world
	i := w.network.messages.put(message{round: r, sent: w.now, client: int32(c.id), node: int32(node)})
	w.enqueue(i, w.network.link(c.id, node).sharedConnection())
	w.transmit(i)
}

// sharedConnection returns the connection that carries all requests over the link.
func (l *link) sharedConnection() *connection {
	if l.connection == nil {
		l.connection = &connection{}
	}
	return l.connection
}

// shared returns the connections over the link that carry several requests.
func (l *link) shared() []*connection {
	var shared []*connection
	if l.connection != nil {
		shared = append(shared, l.connection)
	}
	if l.batches != nil {
		for _, u := range l.batches.underWay {
			if u.connection != nil {
				shared = append(shared, u.connection)
			}
		}
	}
	return shared
}

// enqueue appends a request to those on a connection.
func (w *World) enqueue(i int32, c *connection) {
	m := w.network.messages.at(i)
	m.connection = c
	if !c.lossUnseen {
		c.awaiting = append(c.awaiting, m.round)
	}
	if !c.broken {
		c.requests.push(i)
	}
}

// discard removes message i, which will never arrive, from the connection. With news it is
// the reset itself that never arrives. The awaited replies are, in order: those on their
// way, those that the node works on, and those whose requests are on their way.
func (c *connection) discard(i int32, news bool) {
	if news {
		c.lossUnseen, c.awaiting = true, nil
		return
	}
	at := c.replies.drop(i)
	if k := c.requests.drop(i); k >= 0 {
		at = len(c.awaiting) - len(c.requests.slots) - 1 + k
	}
	if at >= 0 {
		c.awaiting = slices.Delete(c.awaiting, at, at+1)
	}
}

// receiveRequest handles a request that has arrived at the node, unless an earlier one is
// missing, and then those that waited for it.
func (w *World) receiveRequest(i int32, c *connection) {
	if c.broken {
		w.network.messages.take(i)
		return
	}
	c.requests.arrive(i)
	for !c.broken && c.requests.next() {
		w.deliverToNode(c.requests.pop())
	}
}

// receiveReply does the same with a reply that has arrived at the client. A reset does not
// wait for the messages that it has cut off.
func (w *World) receiveReply(i int32, c *connection) {
	m := w.network.messages.at(i)
	client, node := int(m.client), int(m.node)
	switch {
	case m.reset:
		w.closed(i)
	case c.broken:
		w.network.messages.take(i)
	default:
		c.replies.arrive(i)
		for c.replies.next() {
			c.awaiting = c.awaiting[1:]
			w.answered(c.replies.pop())
		}
		w.drained(client, node)
	}
}

// closed tells the client that the connection of message i is closed. Its next request
// opens a new one. A second call does no harm.
func (w *World) closed(i int32) {
	m := w.network.messages.take(i)
	c := m.connection
	if l := w.network.linkOf(&m); l.connection == c {
		l.connection = nil
	}
	for _, r := range c.awaiting {
		w.network.arrived(int(m.node), r, env.Lost, brokenOff)
		r.deliver(int(m.node), env.Lost, brokenOff)
	}
	c.awaiting = nil
	w.drained(int(m.client), int(m.node))
}

// sever breaks the connection. Messages that have arrived and wait for earlier ones are
// lost at once; those on their way are lost when they arrive.
func (w *World) sever(c *connection) {
	c.broken = true
	for _, l := range []*inFlight{&c.requests, &c.replies} {
		for _, p := range l.slots {
			if p.arrived {
				w.network.messages.take(p.message)
			}
		}
		l.slots = nil
	}
}

// inFlight is one direction of a connection: the messages that were sent and not yet
// received, in order. A message that arrives before an earlier one waits for it, as TCP
// segments do.
type inFlight struct{ slots []slot }

type slot struct {
	message int32
	arrived bool // it has arrived
}

func (l *inFlight) push(i int32) { l.slots = append(l.slots, slot{message: i}) }

func (l *inFlight) arrive(i int32) {
	for k := range l.slots {
		if l.slots[k].message == i {
			l.slots[k].arrived = true
			return
		}
	}
}

// drop removes a message and returns its position, or -1.
func (l *inFlight) drop(i int32) int {
	k := slices.IndexFunc(l.slots, func(p slot) bool { return p.message == i })
	if k >= 0 {
		l.slots = slices.Delete(l.slots, k, k+1)
	}
	return k
}

// next reports whether the first message has arrived.
func (l *inFlight) next() bool { return len(l.slots) > 0 && l.slots[0].arrived }

func (l *inFlight) pop() int32 {
	first := l.slots[0].message
	l.slots = l.slots[1:]
	return first
}

// pool is a client's limited number of connections to one node, with one request on each.
// A coroutine of the client accompanies each request while it waits for a connection and
// then for its answer: so the pool is paused with the client, and uses the client's clock.
type pool struct {
	waiting []*poolRequest // for a connection, in the order in which they came
	busy    []*poolRequest // each on a connection
}

// poolRequest is a request that is on a connection or waits for one.
type poolRequest struct {
	round *round
	node  int
	co    *coroutine // nil: it has not begun to wait
}

// sendPooled sends a request as soon as a connection is free and no earlier request waits
// for it.
func (c *client) sendPooled(r *round, node int) {
	p := &c.world.network.link(c.id, node).pool
	q := &poolRequest{round: r, node: node}
	p.waiting = append(p.waiting, q)
	if p.isNext(c.world, q) {
		p.send(c, q)
	}
	c.world.start(c, "request", func() { p.await(c, q) })
}

// isNext reports whether the request can be sent.
func (p *pool) isNext(w *World, q *poolRequest) bool {
	return len(p.waiting) > 0 && p.waiting[0] == q && len(p.busy) < w.network.connections.Limit
}

func (p *pool) send(c *client, q *poolRequest) {
	p.waiting = p.waiting[1:]
	p.busy = append(p.busy, q)
	c.sendAlone(q.round, q.node, nil)
}

// await waits until a request has been answered or given up. A request that is given up on
// its way breaks its connection, as go-redis closes a connection after a read timeout. One
// that is given up earlier is never sent.
func (p *pool) await(c *client, q *poolRequest) {
	q.co = c.world.current
	for !slices.Contains(p.busy, q) && !q.finished(c) {
		if p.isNext(c.world, q) {
			p.send(c, q)
			p.wakeWaiting(c.world)
			break
		}
		q.co.park(context.Background(), q.round.giveUp, awaitsConnection)
	}
	for !q.finished(c) {
		q.co.park(context.Background(), q.round.giveUp, awaitsReply)
	}
	p.waiting, p.busy = without(p.waiting, q), without(p.busy, q)
	p.wakeWaiting(c.world)
	c.world.drained(c.id, q.node)
}

// finished reports whether the request has been answered or given up.
func (q *poolRequest) finished(c *client) bool {
	return !q.round.pending.Has(q.node) || c.mono() >= q.round.giveUp
}

// wakeWaiting wakes the coroutines that may have something to do: that of the first
// waiting request, and those of all requests on connections.
func (p *pool) wakeWaiting(w *World) {
	for _, q := range p.busy {
		q.wake(w)
	}
	if len(p.waiting) > 0 {
		p.waiting[0].wake(w)
	}
}

func (q *poolRequest) wake(w *World) {
	if q.co != nil {
		w.wake(q.co.activity)
	}
}

func without(list []*poolRequest, q *poolRequest) []*poolRequest {
	return slices.DeleteFunc(list, func(other *poolRequest) bool { return other == q })
}

// untouched changes nothing about a link. It is for faults that affect only the node
// behind the link.
func untouched(int, int) {}

// endLinkFault ends a fault of links: it applies mend to each of them. Messages that the
// fault held up are still under way, and later requests that share a connection with them
// wait for them. So such a link counts as down while it drains: no client can expect a
// quick round trip before.
func (w *World) endLinkFault(which nemesis.Links, mend func(client, node int)) {
	w.links.Mend(which, func(client, node int) {
		mend(client, node)
		l := w.network.link(client, node)
		held := len(l.draining) > 0
		l.draining = l.outstanding()
		if len(l.draining) > 0 && l.batches != nil {
			l.batches.startFlushing()
		}
		if !held && len(l.draining) > 0 {
			w.links.Disturb(world.OneLink(client, node), untouched)
		}
	})
}

// drained has to be called when a message has left a shared connection. It marks
// the link as up once it has drained.
func (w *World) drained(client, node int) {
	l := w.network.link(client, node)
	if len(l.draining) > 0 && !slices.ContainsFunc(l.draining, l.awaits) {
		l.draining = nil
		w.links.Mend(world.OneLink(client, node), untouched)
	}
}

// outstanding returns the rounds whose replies have to arrive before the reply to a
// request that is sent now.
func (l *link) outstanding() []*round {
	var rounds []*round
	if c := l.connection; c != nil && len(c.awaiting) > 0 {
		rounds = append(rounds, c.awaiting[len(c.awaiting)-1])
	}
	for _, q := range l.pool.busy {
		rounds = append(rounds, q.round)
	}
	if l.batches != nil {
		rounds = append(rounds, l.batches.rounds()...)
	}
	return rounds
}

// awaits reports whether a shared connection of the link still has to deliver a
// reply to the round.
func (l *link) awaits(r *round) bool {
	return l.connection != nil && slices.Contains(l.connection.awaiting, r) ||
		slices.ContainsFunc(l.pool.busy, func(q *poolRequest) bool { return q.round == r }) ||
		l.batches != nil && l.batches.carry(r)
}
