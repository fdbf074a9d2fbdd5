package sim

import (
	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/history"
	"github.com/lockstorm/lockstorm/internal/choice"
	"github.com/lockstorm/lockstorm/nemesis"
)

// State implements [choice.World], for points with few ways. ok is false if the world has parts that are
// not hashed: a store, connections that several requests share, journals of nodes, a link of
// limited bandwidth, faults that draw random numbers, or replies that wait for a paused client.
//
// What faults have done so far is in the history, with its times. What the code of a client will
// do follows from what the client has observed. Of a client that has ended nothing is left, unless a
// fault may wait for the time after one of its steps.
func (w *World) State() (s choice.State, ok bool) {
	if !w.hashed() {
		return choice.State{}, false
	}
	d := w.few.recorded
	d.add(uint64(w.now))
	d.mix(w.few.guarded)
	for _, c := range w.clients {
		w.addClient(&d, c)
	}
	for i := range w.nodes {
		w.addNode(&d, &w.nodes[i])
	}
	d.mix(w.underWayDigest())
	for i := range w.network.links {
		l := &w.network.links[i]
		w.addHeld(&d, l.requests.held)
		w.addHeld(&d, l.replies.held)
	}
	return choice.State{d.a, d.b}, true
}

// hashed reports whether State covers all that the world has.
func (w *World) hashed() bool {
	how := w.network.connections
	if w.store != nil || how.Limit > 0 || how.Pipelined || how.Batched || FaultsDraw(w.setting.Plan) {
		return false
	}
	for i := range w.network.links {
		if l := &w.network.links[i]; l.requests.bandwidth != nil || l.replies.bandwidth != nil {
			return false
		}
	}
	for i := range w.nodes {
		if n := &w.nodes[i]; n.journal != nil || n.peer != nil || n.fsync != nil {
			return false
		}
	}
	for _, c := range w.clients {
		if c.deferred.active || len(c.deferred.waiting) > 0 {
			return false
		}
	}
	return true
}

// FaultsDraw reports whether a fault of the plan draws a random number for each message. All messages
// draw from one stream, so what one draws depends on how many have drawn before.
func FaultsDraw(p nemesis.Plan) bool { return p.Does(nemesis.Draws) }

func (w *World) addClient(d *digest, c *client) {
	if ended := c.main.done && len(c.activities) == 0; ended && !w.few.EveryOrder {
		d.add(1)
		return
	}
	d.mix(c.observed)
	d.add(flags(c.paused, c.dead))
	w.addHeld(d, c.unsent)
}

func (w *World) addNode(d *digest, n *node) {
	d.add(uint64(n.wall.At(w.now)))
	d.add(n.run)
	d.add(flags(n.down, n.unpowered, n.stopped, n.forGood, n.syncing) | uint64(n.failing)<<8)
	d.add(flags(n.scriptMissing[:]...))
	for number := range n.keys.slots {
		if k := &n.keys.slots[number]; k.exists {
			d.add(uint64(number))
			d.add(text(k.token))
			d.add(uint64(k.expiry))
		}
	}
	var attested digest // a map has no order
	for watched, a := range n.attested {
		var one digest
		one.add(uint64(watched))
		one.add(a.run)
		one.add(uint64(a.at))
		attested.join(one)
	}
	d.mix(attested)
	w.addHeld(d, n.waiting)
}

// addHeld mixes in messages that wait, in their order.
func (w *World) addHeld(d *digest, held []int32) {
	d.add(uint64(len(held)))
	for _, i := range held {
		d.mix(w.network.messages.at(i).digest())
	}
}

// underWayDigest returns the digest of the messages and calls that have yet to arrive, in any order.
func (w *World) underWayDigest() (all digest) {
	for _, list := range [][]event{w.few.due, w.queue.others} {
		for i := range list {
			e := &list[i]
			var one digest
			switch e.class() {
			case requestArrives, replyArrives:
				one = w.network.messages.at(e.index()).digest()
			case callArrives, callReturns:
				one = w.calls.at(e.index()).digest()
			default:
				continue // of faults
			}
			one.add(uint64(e.at))
			all.join(one)
		}
	}
	return all
}

func (m *message) digest() (d digest) {
	d.add(uint64(m.client)<<32 | uint64(m.node))
	d.add(uint64(m.answer)<<16 | uint64(m.cause)<<8 | flags(m.reset, m.withScript, m.copy))
	d.add(uint64(m.sent))
	if r := m.round; r != nil {
		c := &r.command
		d.add(uint64(c.Op)<<32 | uint64(r.key))
		d.add(text(c.Token))
		d.add(uint64(c.TTL) ^ uint64(c.Vouched)<<1)
		d.add(c.Count)
		d.add(uint64(r.giveUp))
		d.add(flags(r.pending.Has(int(m.node))))
		if more, some := r.details[int(m.node)]; some {
			d.add(more.number)
			d.add(text(more.token))
		}
	}
	return d
}

func (c *call) digest() (d digest) {
	d.add(uint64(c.client.id)<<32 | uint64(c.kind)<<8 | flags(c.accepted, c.returned, c.abandoned))
	d.add(text(c.access.Resource))
	d.add(text(c.access.Token))
	d.add(c.access.Fence)
	d.add(uint64(c.value))
	d.add(c.fence)
	return d
}

// observeReply mixes in a reply that has arrived. The code may take it later.
func (c *client) observeReply(r *round, node int, answer env.Answer, why cause) {
	more := r.details[node]
	c.observe(uint64(node)<<24|uint64(answer)<<16|uint64(why)<<8|uint64(r.command.Op), text(r.command.Token))
	c.observe(more.number, text(more.token))
}

// record adds an event to the digest of the history.
func (f *few) record(e *history.Event) {
	var t trace
	t.event(e)
	var one digest
	one.add(uint64(t))
	one.add(uint64(e.Time)*mul2 + uint64(e.Kind)*mul3 + text(e.Token)*mul4)
	f.recorded.join(one)
}

// flags packs truth values into bits.
func flags(all ...bool) (bits uint64) {
	for i, b := range all {
		if b {
			bits |= 1 << i
		}
	}
	return bits
}

// digest is a hash of 128 bits, as two of 64 that are mixed in different ways.
type digest struct{ a, b uint64 }

// add mixes one number in, after all others.
func (d *digest) add(x uint64) {
	a := (d.a ^ x) * mul1
	d.a = a ^ a>>29
	b := (d.b + x) * mul6
	d.b = b ^ b>>32
}

// mix mixes another digest in, after all others.
func (d *digest) mix(o digest) {
	d.add(o.a)
	d.add(o.b)
}

// join adds another digest, in any order with others.
func (d *digest) join(o digest) {
	d.a += o.a * mul4
	d.b += o.b * mul5
}
