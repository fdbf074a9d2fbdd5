package sim

import (
	"context"
	"errors"
	"math/rand/v2"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/nemesis"
)

// network carries messages between clients and nodes. It is that of a client
// with a pool of connections, one request on each at a time: no message
// overtakes another on its connection, because there is none, and requests on
// different connections arrive in any order. Nothing is dropped; a cut link
// holds messages back until it is mended, as TCP does.
type network struct {
	nodes   int
	latency *nemesis.Table
	random  *rand.PCG
	links   []link // by client, then by node

	messages slab[message] // on their way
}

type link struct {
	requestsCut, repliesCut bool
	extra                   *nemesis.Table // on top of the network's latency; nil: nothing
	heldRequests            []int32
	heldReplies             []int32
}

// message is one request, and then its reply.
type message struct {
	round  *round
	client int32
	node   int32
	answer env.Answer
}

func newNetwork(s nemesis.Setting, seed uint64) network {
	return network{
		nodes:   s.Nodes,
		latency: s.Latency.Table(),
		random:  stream(seed, "network"),
		links:   make([]link, s.Clients*s.Nodes),
	}
}

func (n *network) link(client, node int) *link {
	return &n.links[(client-1)*n.nodes+node-1]
}

// way draws how long a message takes that goes over no link, to or from the
// guarded resource.
func (n *network) way() int64 { return int64(n.latency.Draw(n.random.Uint64())) }

// delay draws how long a message takes over the link.
func (n *network) delay(l *link) int64 {
	d := n.way()
	if l.extra != nil {
		d += int64(l.extra.Draw(n.random.Uint64()))
	}
	return d
}

// Len implements [env.Nodes].
func (c *client) Len() int { return c.world.network.nodes }

// Send implements [env.Nodes].
func (c *client) Send(to env.NodeSet, command env.Command, giveUp env.Instant) env.Round {
	c.enter()
	w := c.world
	r := &round{client: c, command: command, giveUp: giveUp, silent: to}
	r.replies = r.room[:0]
	for rest := to; rest != 0; {
		node := rest.First()
		rest = rest.Without(node)
		i := w.network.messages.put(message{round: r, client: int32(c.id), node: int32(node)})
		w.sendRequest(i)
	}
	return r
}

func (w *World) sendRequest(i int32) {
	m := w.network.messages.at(i)
	l := w.network.link(int(m.client), int(m.node))
	w.queue.push(w.now+w.network.delay(l), requestArrives, i)
}

func (w *World) requestArrives(i int32) {
	m := w.network.messages.at(i)
	l := w.network.link(int(m.client), int(m.node))
	if l.requestsCut {
		l.heldRequests = append(l.heldRequests, i)
		return
	}
	node := &w.nodes[m.node-1]
	if node.down {
		m.answer = env.Failed
	} else {
		m.answer = w.execute(node, int(m.client), m.round.command)
	}
	w.trace.add(uint64(m.answer))
	w.sendReply(i)
}

func (w *World) sendReply(i int32) {
	m := w.network.messages.at(i)
	l := w.network.link(int(m.client), int(m.node))
	w.queue.push(w.now+w.network.delay(l), replyArrives, i)
}

func (w *World) replyArrives(i int32) {
	m := w.network.messages.at(i)
	l := w.network.link(int(m.client), int(m.node))
	if l.repliesCut {
		l.heldReplies = append(l.heldReplies, i)
		return
	}
	arrived := w.network.messages.take(i)
	arrived.round.deliver(int(arrived.node), arrived.answer)
}

// sendHeld sends on what a link held back while it was cut.
func (w *World) sendHeld(l *link) {
	if !l.requestsCut {
		for _, i := range l.heldRequests {
			w.sendRequest(i)
		}
		l.heldRequests = l.heldRequests[:0]
	}
	if !l.repliesCut {
		for _, i := range l.heldReplies {
			w.sendReply(i)
		}
		l.heldReplies = l.heldReplies[:0]
	}
}

// round is one command sent to some nodes, and the replies that have come.
type round struct {
	client  *client
	command env.Command
	giveUp  env.Instant
	silent  env.NodeSet // asked, and neither answered nor given up
	replies []env.Reply
	room    [8]env.Reply
	head    int // replies taken so far
	waiter  *coroutine
}

var (
	errRefused = errors.New("connection refused")
	errGaveUp  = errors.New("no answer, given up")
)

// deliver hands a reply over, unless the client has given the request up. A
// client that stands still gives nothing up: the reply waits in its socket,
// and is seen before the deadline that has passed meanwhile.
func (r *round) deliver(node int, answer env.Answer) {
	if !r.silent.Has(node) || !r.client.stopped() && r.client.Mono() >= r.giveUp {
		return
	}
	r.silent = r.silent.Without(node)
	reply := env.Reply{Node: node, Answer: answer}
	if answer == env.Failed {
		reply.Err = errRefused
	}
	r.replies = append(r.replies, reply)
	if r.waiter != nil {
		r.client.world.wake(r.waiter)
	}
}

// abandon reports the nodes that have not answered as lost.
func (r *round) abandon() {
	for r.silent != 0 {
		node := r.silent.First()
		r.silent = r.silent.Without(node)
		r.replies = append(r.replies, env.Reply{Node: node, Answer: env.Lost, Err: errGaveUp})
	}
}

// Next implements [env.Round].
func (r *round) Next(ctx context.Context, until env.Instant) (env.Reply, error) {
	co := r.client.enter()
	for {
		if r.head == len(r.replies) && r.silent != 0 && r.client.Mono() >= r.giveUp {
			r.abandon()
		}
		if r.head < len(r.replies) {
			r.head++
			return r.replies[r.head-1], nil
		}
		if r.silent == 0 {
			return env.Reply{}, env.ErrRoundOver
		}
		if err := ctx.Err(); err != nil {
			return env.Reply{}, err
		}
		if r.client.Mono() >= until {
			return env.Reply{}, env.ErrTimeout
		}
		r.waiter = co
		co.park(ctx, min(until, r.giveUp), awaitsReply)
		r.waiter = nil
	}
}
