package sim

import (
	"context"
	"math/rand/v2"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/nemesis"
)

// network carries messages between clients and nodes, and to the guarded
// resource. Unless the setting says otherwise it is that of a client with a
// pool of connections, one request on each at a time: no message overtakes
// another on its connection, because there is none, and requests on different
// connections arrive in any order. Nothing is dropped but what is on a
// connection that is reset; a cut link holds messages back until it is mended,
// as TCP does.
type network struct {
	nodes       int
	connections nemesis.Connections
	random      *rand.PCG
	links       []link // by client, then by node
	toGuard     []lane // by client
	fromGuard   lane

	messages slab[message] // on their way
}

// link is what is between one client and one node.
type link struct {
	requests, replies lane

	connection *connection // that is pipelined; nil: there is none yet
	pool       pool        // of connections, if they are limited

	aftermath []*round // that faults have held up, and that what comes later waits for
}

// lane is one direction of a link.
type lane struct {
	latency *nemesis.Table
	cut     bool
	forGood bool       // and it will never be mended
	resets  bool       // the connection of whatever should go this way
	extra   *extra     // on top of the latency; nil: nothing
	loss    *loss      // nil: none
	narrow  *bandwidth // nil: as wide as one likes
	held    []int32    // messages that came to the cut
}

// extra is what a fault adds to the latency of each message.
type extra struct {
	table  *nemesis.Table
	random *rand.PCG // the fault's own
}

// each does something to the lanes of a direction.
func (l *link) each(way nemesis.Direction, do func(*lane)) {
	if way.Has(nemesis.Requests) {
		do(&l.requests)
	}
	if way.Has(nemesis.Replies) {
		do(&l.replies)
	}
}

// message is one request, and then its reply, or the news that its connection
// was reset.
type message struct {
	round      *round
	question   *question   // to the store, in place of the round's command
	sent       int64       // ground time
	number     uint64      // what the reply bears beside its answer: a counter, or a census
	connection *connection // nil: one to itself
	client     int32
	node       int32
	answer     env.Answer // 0: it is a request
	cause      cause      // why, when the answer is env.Failed or env.Lost
	reset      bool       // so is its connection, see reset.go
	whole      bool       // it brings its script along
	again      uint8      // how often it was sent again this way
}

func newNetwork(s nemesis.Setting, seed uint64) network {
	n := network{
		nodes:       s.Nodes,
		connections: s.Connections,
		random:      stream(seed, "network"),
		links:       make([]link, s.Clients*s.Nodes),
		toGuard:     make([]lane, s.Clients),
	}
	n.setLatencies(s)
	return n
}

// setLatencies gives every lane its latency.
func (n *network) setLatencies(s nemesis.Setting) {
	usual := s.Latency.Table()
	for i := range n.links {
		n.links[i].each(nemesis.Both, func(l *lane) { l.latency = usual })
	}
	for _, of := range s.Links {
		own := of.Latency.Table()
		for _, client := range nemesis.Each(of.Clients, s.Clients) {
			for _, node := range nemesis.Each(of.Nodes, s.Nodes) {
				n.link(client, node).each(of.Way, func(l *lane) { l.latency = own })
			}
		}
	}
	guard := usual
	if s.GuardLatency != nil {
		guard = s.GuardLatency.Table()
	}
	n.fromGuard.latency = guard
	for i := range n.toGuard {
		n.toGuard[i].latency = guard
	}
}

func (n *network) link(client, node int) *link {
	return &n.links[(client-1)*n.nodes+node-1]
}

// delay draws how long a message takes over the lane.
func (n *network) delay(l *lane) int64 {
	d := int64(l.latency.Draw(n.random.Uint64()))
	if l.extra != nil {
		d += int64(l.extra.table.Draw(l.extra.random.Uint64()))
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
		switch {
		case w.network.connections.Limit > 0:
			c.sendInTurn(r, node)
		case w.network.connections.Pipelined:
			c.sendInLine(r, node)
		default:
			c.sendAlone(r, node, nil)
		}
	}
	return r
}

// sendAlone sends a request over a connection of its own, with a question if it
// goes to the store.
func (c *client) sendAlone(r *round, node int, q *question) {
	w := c.world
	w.sendRequest(w.network.messages.put(message{round: r, question: q, sent: w.now, client: int32(c.id), node: int32(node)}))
}

func (w *World) sendRequest(i int32) {
	m := w.network.messages.at(i)
	w.transmit(i, &w.network.link(int(m.client), int(m.node)).requests, requestArrives)
}

// transmit puts a message on its way over a lane, at the end of which arrival
// happens.
func (w *World) transmit(i int32, l *lane, arrival class) {
	if l.narrow != nil {
		w.queueUp(i, l, arrival)
		return
	}
	w.leave(i, l, arrival)
}

// leave is what becomes of a message that the lane has room for.
func (w *World) leave(i int32, l *lane, arrival class) {
	if l.loss != nil && w.loses(i, l, arrival) {
		return
	}
	w.queue.push(w.now+w.network.delay(l), arrival, i)
}

func (w *World) requestArrives(i int32) {
	m := w.network.messages.at(i)
	l := w.network.link(int(m.client), int(m.node))
	if l.requests.cut {
		w.hold(&l.requests, i)
		return
	}
	if m.connection != nil {
		w.requestInLine(i, m.connection)
		return
	}
	w.atNode(i)
}

// atNode is what becomes of request i, which has come to the end of its way.
func (w *World) atNode(i int32) {
	m := w.network.messages.at(i)
	switch {
	case m.connection != nil && m.connection.broken:
		w.network.messages.take(i)
	case m.reset || w.network.link(int(m.client), int(m.node)).requests.resets:
		w.breakOff(i)
	default:
		w.serve(&w.nodes[m.node-1], i)
	}
}

// reply sends the answer of a node on its way.
func (w *World) reply(i int32) {
	m := w.network.messages.at(i)
	w.trace.add(uint64(m.answer))
	m.again = 0
	l := w.network.link(int(m.client), int(m.node))
	switch c := m.connection; {
	case c != nil && c.broken:
		w.network.messages.take(i)
		return
	case l.replies.resets && !m.reset:
		w.breakOff(i)
		return
	case c != nil:
		c.replies.push(i)
	}
	w.transmit(i, &l.replies, replyArrives)
}

func (w *World) sendReply(i int32) {
	m := w.network.messages.at(i)
	w.transmit(i, &w.network.link(int(m.client), int(m.node)).replies, replyArrives)
}

func (w *World) replyArrives(i int32) {
	m := w.network.messages.at(i)
	l := w.network.link(int(m.client), int(m.node))
	if l.replies.cut {
		w.hold(&l.replies, i)
		return
	}
	if m.connection != nil {
		w.replyInLine(i)
		return
	}
	w.answered(i)
}

// answered hands a reply, or the news of a reset, to the client. One that says
// that a script is missing stays with the client's transport, which sends the
// script itself.
func (w *World) answered(i int32) {
	if w.network.messages.at(i).cause == noScript {
		w.sendWhole(i)
		return
	}
	m := w.network.messages.take(i)
	m.round.deliver(int(m.node), m.answer, m.cause, m.number)
}

// hold keeps a message that has come to a cut until that is mended. Where it
// never is, the message is forgotten: a run of any length must not grow by it.
func (w *World) hold(l *lane, i int32) {
	if l.forGood {
		if m := w.network.messages.take(i); m.connection != nil {
			m.connection.forget(i, m.reset)
		}
		return
	}
	l.held = append(l.held, i)
}

// sendHeld sends on what a link held back while it was cut.
func (w *World) sendHeld(l *link) {
	if !l.requests.cut {
		for _, i := range l.requests.held {
			w.sendRequest(i)
		}
		l.requests.held = l.requests.held[:0]
	}
	if !l.replies.cut {
		for _, i := range l.replies.held {
			w.sendReply(i)
		}
		l.replies.held = l.replies.held[:0]
	}
}

// round is one command sent to some nodes, and the replies that have come.
type round struct {
	client  *client
	command env.Command
	giveUp  env.Instant
	silent  env.NodeSet // asked, and neither answered nor given up
	replies []reply
	room    [8]reply
	head    int // replies taken so far
	waiter  *coroutine
	numbers *[env.MaxNodes]uint64 // that replies bear, by reply; nil where the command asks for none
}

// reply is an env.Reply in three bytes: rounds are most of what the simulator
// allocates.
type reply struct {
	node   uint8
	answer env.Answer
	why    cause
}

// deliver hands a reply over, unless the client has given the request up. A
// client that stands still gives nothing up: the reply waits in its socket,
// and is seen before the deadline that has passed meanwhile, unless the client
// is to see its timers first.
func (r *round) deliver(node int, answer env.Answer, why cause, number uint64) {
	switch c := r.client; {
	case !r.silent.Has(node):
		return
	case c.stopped():
		if c.inbox.holds(func() { r.deliver(node, answer, why, number) }) {
			return
		}
	case c.mono() >= r.giveUp:
		return
	}
	r.silent = r.silent.Without(node)
	r.add(reply{uint8(node), answer, why}, number)
	w := r.client.world
	if w.network.connections.Limit > 0 {
		w.network.link(r.client.id, node).pool.look(w)
	}
	if r.waiter != nil {
		w.wake(r.waiter)
	}
}

// abandon reports the nodes that have not answered as lost.
func (r *round) abandon() {
	for r.silent != 0 {
		node := r.silent.First()
		r.silent = r.silent.Without(node)
		r.add(reply{uint8(node), env.Lost, gaveUp}, 0)
	}
}

func (r *round) add(next reply, number uint64) {
	r.replies = append(r.replies, next)
	if r.numbered() {
		if r.numbers == nil {
			r.numbers = new([env.MaxNodes]uint64)
		}
		r.numbers[len(r.replies)-1] = number
	}
}

// numbered reports whether the command asks for more than an answer.
func (r *round) numbered() bool {
	return r.command.Vouched > 0 || r.command.Op == env.OpCount || r.command.Op == env.OpRaise
}

// take returns the next of the replies that have come.
func (r *round) take() env.Reply {
	next := r.replies[r.head]
	reply := env.Reply{Node: int(next.node), Answer: next.answer, Err: causes[next.why]}
	if r.numbered() && reply.Err == nil {
		if number := r.numbers[r.head]; r.command.Op == env.OpSet {
			tell(&reply, number)
		} else {
			reply.Count = number
		}
	}
	r.head++
	return reply
}

// Next implements [env.Round].
func (r *round) Next(ctx context.Context, until env.Instant) (env.Reply, error) {
	co := r.client.enter()
	for {
		if r.head == len(r.replies) && r.silent != 0 && r.client.mono() >= r.giveUp {
			r.abandon()
		}
		if r.head < len(r.replies) {
			return r.take(), nil
		}
		if r.silent == 0 {
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
