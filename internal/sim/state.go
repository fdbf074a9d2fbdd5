package sim

import (
	"slices"

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
	d.add(flags(n.down, n.unpowered, n.stopped, n.forGood, n.syncing, n.frozen) | uint64(n.failing)<<8)
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

// few is what a world needs whose points have few ways.
type few struct {
	choice.Grain
	points   int     // so far
	due      []event // at this instant, in the order of the queue
	firsts   []int   // the positions of those that can come next: see first
	recorded digest  // the events of the history, in any order of those of one instant
	guarded  digest  // the calls of the guarded resource, in their order
}

// observe mixes in what the client's code learns. The code is deterministic, so what it does next
// follows from all that it has observed.
func (c *client) observe(a, b uint64) {
	if c.world.few != nil {
		c.observed.add(a)
		c.observed.add(b)
	}
}

// observeTurn mixes in that an activity of the client goes on, and what the clocks show.
func (c *client) observeTurn(a *activity) {
	c.observe(uint64(slices.Index(c.activities, a)), uint64(c.world.now))
	c.observe(uint64(c.now(env.Wall)), uint64(c.mono()))
	c.observe(uint64(c.now(env.Boottime)), 0)
}
