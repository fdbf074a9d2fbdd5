package sim

import (
	"context"
	"strconv"

	"github.com/lockstorm/lockstorm/env"
)

// round is one command sent to some nodes, and the replies so far.
type round struct {
	client  *client
	command env.Command
	key     int32 // the number of its key
	number  int32 // of all rounds of the world, from 1
	giveUp  env.Instant
	pending env.NodeSet // asked, and neither answered nor given up
	unsent  env.NodeSet // those of them whose request is not on its way yet
	replies []reply
	room    [8]reply
	head    int // replies taken so far
	waiter  *coroutine
	to      env.Receiver        // of the replies; nil: they are taken with Next
	details map[int]replyDetail // by node, where the command asks for more than an answer
}

// reply is an env.Reply in three bytes: rounds are most of what the simulator allocates.
type reply struct {
	node   uint8
	answer env.Answer
	why    cause
}

// deliver hands over a reply, unless the client has given the request up. A paused client
// gives nothing up: the reply waits in its socket, and the client gets it even after the
// deadline, unless its timers come first.
func (r *round) deliver(node int, answer env.Answer, why cause) {
	switch c := r.client; {
	case !r.pending.Has(node):
		return
	case c.stopped():
		if c.deferred.deferIfActive(func() { r.deliver(node, answer, why) }) {
			return
		}
	case c.mono() >= r.giveUp:
		return
	}
	r.pending = r.pending.Without(node)
	r.replies = append(r.replies, reply{uint8(node), answer, why})
	w := r.client.world
	if w.few != nil {
		r.client.observeReply(r, node, answer, why)
	}
	if w.network.connections.Limit > 0 {
		w.network.link(r.client.id, node).pool.wakeWaiting(w)
	}
	if r.waiter != nil {
		w.wake(r.waiter.activity)
	}
}

// abandon reports the nodes that have not answered as lost, and those to which nothing was
// sent as failed.
func (r *round) abandon() {
	for r.pending != 0 {
		node := r.pending.First()
		r.pending = r.pending.Without(node)
		if r.unsent.Has(node) {
			r.replies = append(r.replies, reply{uint8(node), env.Failed, notSent})
			continue
		}
		r.replies = append(r.replies, reply{uint8(node), env.Lost, gaveUp})
	}
}

// take returns the next reply.
func (r *round) take() env.Reply {
	next := r.replies[r.head]
	reply := env.Reply{Node: int(next.node), Answer: next.answer, Err: causes[next.why]}
	if r.details != nil && reply.Err == nil {
		more := r.details[reply.Node]
		if r.command.Vouched > 0 {
			setRunID(&reply, more.number)
		} else {
			reply.Count, reply.Token = more.number, more.token
		}
	}
	r.head++
	return reply
}

// Next implements [env.Round].
func (r *round) Next(ctx context.Context, until env.Instant) (env.Reply, error) {
	co := r.client.enter()
	for {
		if r.head == len(r.replies) && r.pending != 0 && r.client.mono() >= r.giveUp {
			r.abandon()
		}
		if r.head < len(r.replies) {
			return r.take(), nil
		}
		if r.pending == 0 {
			return env.Reply{}, env.ErrRoundOver
		}
		if err := ctx.Err(); err != nil {
			return env.Reply{}, err
		}
		if r.client.mono() >= until {
			return env.Reply{}, env.ErrTimeout
		}
		r.waiter = co
		co.park(ctx, min(until, r.giveUp), awaitsReply)
		r.waiter = nil
	}
}

// Drain does what [env.Drain] wants. While the caller is parked, the receiver is called in the
// turns of its activity without switching to its coroutine: most rounds of a lock are drained
// in the end, and the switch costs more than what is done with a reply. Everything else is as
// if the caller called Next for every reply.
func (r *round) Drain(to env.Receiver) {
	co := r.client.enter()
	r.to = to
	if !r.handOver() {
		r.waiter, co.draining = co, r
		co.park(context.Background(), r.giveUp, awaitsReply)
		r.waiter, co.draining = nil, nil
	}
	r.to = nil // a message that is held up keeps its round
}

// handOver passes on the replies that have come, and reports whether the round is over.
func (r *round) handOver() (over bool) {
	for r.client.world.err == nil {
		if r.head == len(r.replies) && r.pending != 0 && r.client.mono() >= r.giveUp {
			r.abandon()
		}
		if r.head == len(r.replies) {
			return r.pending == 0
		}
		r.to.Receive(r.take())
		r.client.count()
	}
	return false
}

// setRunID decodes that number into a reply.
func setRunID(r *env.Reply, number uint64) {
	r.Run, r.Vouched = runName(number/2), number%2 == 1
}

// runName returns a name in place of the run id that Redis draws at each start of a
// server.
func runName(run uint64) string { return "run " + strconv.FormatUint(run, 10) }
