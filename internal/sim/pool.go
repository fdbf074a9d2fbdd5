package sim

import (
	"context"
	"slices"
)

// pool is a client's connections to one node, of which there are only so many,
// with one request on each. Every request has a coroutine of the client that
// waits for its turn and then for its answer: so the pool stands still while
// the client does, and goes by the client's clock.
type pool struct {
	waiting []*pooled // for a connection, in the order in which they came
	busy    []*pooled // each on a connection
}

// pooled is one request that is on a connection or waits for one.
type pooled struct {
	round *round
	node  int
	co    *coroutine // nil: it has not begun to wait
}

// sendInTurn sends a request as soon as a connection is free and nobody waits
// for it longer.
func (c *client) sendInTurn(r *round, node int) {
	p := &c.world.network.link(c.id, node).pool
	q := &pooled{round: r, node: node}
	p.waiting = append(p.waiting, q)
	if p.turn(c.world, q) {
		p.send(c, q)
	}
	c.world.start(c, "request", func() { p.accompany(c, q) })
}

// turn reports whether it is the request's turn.
func (p *pool) turn(w *World, q *pooled) bool {
	return len(p.waiting) > 0 && p.waiting[0] == q && len(p.busy) < w.network.connections.Limit
}

func (p *pool) send(c *client, q *pooled) {
	p.waiting = p.waiting[1:]
	p.busy = append(p.busy, q)
	c.sendAlone(q.round, q.node, nil)
}

// accompany waits with a request until it has been answered or given up. One
// that is given up on its way breaks its connection, as go-redis closes one on
// which a read has timed out; one that is given up before it is never sent.
func (p *pool) accompany(c *client, q *pooled) {
	q.co = c.world.current
	for !p.has(q) && !q.over(c) {
		if p.turn(c.world, q) {
			p.send(c, q)
			p.look(c.world)
			break
		}
		q.co.park(context.Background(), q.round.giveUp, awaitsConnection)
	}
	for !q.over(c) {
		q.co.park(context.Background(), q.round.giveUp, awaitsReply)
	}
	p.waiting, p.busy = without(p.waiting, q), without(p.busy, q)
	p.look(c.world)
	c.world.drained(c.id, q.node)
}

// has reports whether the request is on a connection.
func (p *pool) has(q *pooled) bool { return slices.Contains(p.busy, q) }

// over reports whether there is nothing more to wait for.
func (q *pooled) over(c *client) bool {
	return !q.round.silent.Has(q.node) || c.mono() >= q.round.giveUp
}

// look makes those look again who may have something to do: the first in the
// queue, and all that are on connections.
func (p *pool) look(w *World) {
	for _, q := range p.busy {
		q.wake(w)
	}
	if len(p.waiting) > 0 {
		p.waiting[0].wake(w)
	}
}

func (q *pooled) wake(w *World) {
	if q.co != nil {
		w.wake(q.co)
	}
}

func without(list []*pooled, q *pooled) []*pooled {
	return slices.DeleteFunc(list, func(other *pooled) bool { return other == q })
}
