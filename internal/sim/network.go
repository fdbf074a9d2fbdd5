package sim

import (
	"math/rand/v2"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/internal/choice"
	"github.com/lockstorm/lockstorm/internal/world"
	"github.com/lockstorm/lockstorm/nemesis"
)

// network carries messages between clients and nodes, and to the guarded resource. By
// default a client has a pool of connections with one request on each at a time, so
// requests to a node arrive in any order. Only a reset loses messages: a partition holds
// them back until it is healed, as TCP does.
type network struct {
	nodes       int
	connections nemesis.Connections
	random      *rand.PCG
	links       []link          // by client, then by node
	toGuard     []linkDirection // by client
	fromGuard   linkDirection

	messages arena[message] // under way
}

// link connects one client and one node.
type link struct {
	requests, replies linkDirection

	connection *connection // the pipelined one; nil: none yet
	pool       pool        // used if connections are limited
	batches    *batches    // nil: no request was sent in a batch yet

	draining []*round // held up by a fault that has ended; later requests wait for them
}

// message is a request, then its reply, or the news that its connection was reset.
type message struct {
	round        *round
	storeRequest *storeRequest // replaces the round's command; nil: none
	sent         int64         // ground time
	connection   *connection   // nil: one of its own
	client       int32
	node         int32
	answer       env.Answer // 0: this is a request
	cause        cause      // of env.Failed or env.Lost
	reset        bool       // its connection was reset
	withScript   bool       // it contains the script itself, not its hash
	copy         bool       // it duplicates a request, and the client does not know of it
	resent       uint8      // retransmissions in this direction
}

// seen returns the message as the rules of faults see it.
func (m *message) seen() nemesis.Message {
	seen := nemesis.Message{Client: int(m.client), Node: int(m.node), Way: nemesis.Requests}
	if m.answer != 0 {
		seen.Way = nemesis.Replies
	}
	switch {
	case m.storeRequest != nil:
		seen.Key = m.storeRequest.request.Key
	case m.round != nil:
		seen.Key = m.round.command.Key
	}
	return seen
}

func newNetwork(s nemesis.Setting, seed uint64) network {
	n := network{
		nodes:       s.Nodes,
		connections: s.Connections,
		random:      nemesis.Stream(seed, "network"),
		links:       make([]link, s.Clients*s.Nodes),
		toGuard:     make([]linkDirection, s.Clients),
	}
	n.messages.reserve(smallWorld)
	n.setLatencies(s)
	return n
}

// setLatencies sets the latency of every link direction, and numbers the directions.
func (n *network) setLatencies(s nemesis.Setting) {
	last := uint64(0)
	n.each(func(l *linkDirection) {
		last++
		l.point = choice.Point{Kind: choice.Latency, For: choice.ForLatencies, Stream: last}
	})
	usual := s.Latency.Table()
	for i := range n.links {
		l := &n.links[i]
		l.each(nemesis.Both, func(l *linkDirection) {
			l.latency, l.point.Client, l.point.Node = usual, i/n.nodes+1, i%n.nodes+1
		})
		l.requests.point.Way, l.replies.point.Way = nemesis.Requests, nemesis.Replies
	}
	for _, of := range s.Links {
		own := of.Latency.Table()
		for _, client := range nemesis.Each(of.Clients, s.Clients) {
			for _, node := range nemesis.Each(of.Nodes, s.Nodes) {
				n.link(client, node).each(of.Way, func(l *linkDirection) { l.latency = own })
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

// each calls do with every direction of every link.
func (n *network) each(do func(*linkDirection)) {
	for i := range n.links {
		n.links[i].each(nemesis.Both, do)
	}
	for i := range n.toGuard {
		do(&n.toGuard[i])
	}
	do(&n.fromGuard)
}

func (n *network) link(client, node int) *link {
	return &n.links[(client-1)*n.nodes+node-1]
}

func (n *network) linkOf(m *message) *link { return n.link(int(m.client), int(m.node)) }

// direction returns the direction in which a message travels.
func (n *network) direction(m *message) *linkDirection {
	if m.answer == 0 {
		return &n.linkOf(m).requests
	}
	return &n.linkOf(m).replies
}

// Len implements [env.Nodes].
func (c *client) Len() int { return c.world.network.nodes }

// Send implements [env.Nodes].
func (c *client) Send(to env.NodeSet, command env.Command, giveUp env.Instant) env.Round {
	c.enter()
	w := c.world
	r := w.rounds.next()
	r.client, r.command, r.giveUp, r.pending = c, command, giveUp, to
	r.key = w.keyNames.number(command.Key)
	r.replies = r.room[:0]
	for rest := to; rest != 0; {
		node := rest.First()
		rest = rest.Without(node)
		switch {
		case w.network.connections.Limit > 0:
			c.sendPooled(r, node)
		case w.network.connections.Pipelined:
			c.sendPipelined(r, node)
		case w.network.connections.Batched:
			c.sendBatched(r, node)
		default:
			c.sendAlone(r, node, nil)
		}
	}
	return r
}

// sendAlone sends a request over a connection of its own. q is the store request if the
// request goes to the store.
func (c *client) sendAlone(r *round, node int, q *storeRequest) {
	w := c.world
	w.transmit(w.network.messages.put(message{round: r, storeRequest: q, sent: w.now, client: int32(c.id), node: int32(node)}))
}

// transmit sends a message in its direction.
func (w *World) transmit(i int32) {
	if l := w.network.direction(w.network.messages.at(i)); l.bandwidth != nil {
		w.queueUp(i, l)
	} else {
		w.leave(i, l)
	}
}

// leave sends a message that need not wait for bandwidth.
func (w *World) leave(i int32, l *linkDirection) {
	if l.loss != nil && w.loses(i, l) {
		return
	}
	m, arrival := w.network.messages.at(i), requestArrives
	if m.answer != 0 {
		arrival = replyArrives
	}
	takes := w.takes(l)
	if len(l.rules) > 0 {
		takes += int64(l.rules.Delay(m.seen()))
	}
	w.queue.push(w.now+takes, arrival, i)
}

// arrives handles a message at the end of its link. On a shared connection it waits for those before it.
func (w *World) arrives(i int32) {
	m := w.network.messages.at(i)
	if m.copy { // it comes from a proxy beside the node
		w.atNode(i)
		return
	}
	if l := w.network.direction(m); len(l.rules) > 0 && w.holds(l, i) {
		return
	}
	switch c := m.connection; {
	case c != nil && m.answer == 0:
		w.receiveRequest(i, c)
	case c != nil:
		w.receiveReply(i, c)
	case m.answer == 0:
		w.deliverToNode(i)
	default:
		w.answered(i)
	}
}

// atNode handles request i at the node.
func (w *World) atNode(i int32) {
	m := w.network.messages.at(i)
	switch {
	case m.copy:
		w.serve(&w.nodes[m.node-1], i)
	case m.connection != nil && m.connection.broken:
		w.network.messages.take(i)
	case m.reset:
		w.resetConnection(i)
	case w.network.linkOf(m).requests.resets != resetNone:
		w.resetBy(&w.network.linkOf(m).requests, i)
	default:
		w.serve(w.reached(m), i)
	}
}

// reply sends the answer of a node.
func (w *World) reply(i int32) {
	m := w.network.messages.at(i)
	w.trace.words(uint64(w.now), uint64(m.client)<<32|uint64(m.node), uint64(m.answer))
	if m.copy {
		w.network.messages.take(i)
		return
	}
	m.resent = 0
	replies := &w.network.linkOf(m).replies
	switch c := m.connection; {
	case c != nil && c.broken:
		w.network.messages.take(i)
		return
	case !m.reset && replies.resets != resetNone:
		w.resetBy(replies, i)
		return
	case c != nil:
		c.replies.push(i)
	}
	w.transmit(i)
}

// answered hands a reply, or the news of a reset, to the client. If the reply says that a
// script is missing, the client's transport handles it by sending the script itself.
func (w *World) answered(i int32) {
	m := w.network.messages.at(i)
	w.network.arrived(int(m.node), m.round, m.answer, m.cause)
	if m.cause == noScript {
		w.sendScript(i)
		return
	}
	node, r, answer, why := int(m.node), m.round, m.answer, m.cause
	w.network.messages.take(i)
	r.deliver(node, answer, why)
}

// arrived tells the client's batches that one of their requests is over.
func (n *network) arrived(node int, r *round, answer env.Answer, why cause) {
	if b := n.link(r.client.id, node).batches; b != nil {
		b.arrived(r, answer, why)
	}
}

// linkDirection is one direction of a link, or of the path to the guarded resource.
type linkDirection struct {
	latency   *nemesis.Table
	rules     world.Rules  // of faults, applied to each message
	point     choice.Point // of its last latency
	held      []int32      // messages that a rule holds back, just before they arrive
	loss      *loss        // nil: none
	bandwidth *bandwidth   // nil: unlimited
	resets    resets       // whether a message in this direction resets its connection
	copies    *copier      // duplicates arriving requests; nil: none
}

// each calls do with the link directions that way selects.
func (l *link) each(way nemesis.Direction, do func(*linkDirection)) {
	if way.Includes(nemesis.Requests) {
		do(&l.requests)
	}
	if way.Includes(nemesis.Replies) {
		do(&l.replies)
	}
}

// holds reports whether a rule holds back message i, which is about to arrive, and
// stores it if so. If the rule never ends, the message is dropped, so that memory
// does not grow with the length of the run.
func (w *World) holds(l *linkDirection, i int32) bool {
	held, forGood := l.rules.Holds(w.network.messages.at(i).seen())
	switch {
	case forGood:
		if m := w.network.messages.take(i); m.connection != nil {
			m.connection.discard(i, m.reset)
		}
	case held:
		l.held = append(l.held, i)
	}
	return held
}

// lift removes the rule of a fault. The messages that it held back are sent on,
// unless another rule holds them.
func (w *World) lift(l *linkDirection, fault int) {
	l.rules = l.rules.Without(fault)
	held := l.held
	l.held = held[:0] // reused: it grows no faster than the loop reads it
	for _, i := range held {
		if !w.holds(l, i) {
			w.transmit(i)
		}
	}
}
