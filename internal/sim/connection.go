package sim

import (
	"slices"

	"github.com/lockstorm/lockstorm/env"
)

// connection carries several requests of a client to a node, and the replies,
// each way in the order in which they were sent.
type connection struct {
	requests, replies line

	// asked are the rounds whose answer is to come over it, in the order of
	// their requests.
	asked []*round

	// broken: what is on it is lost, and so is what the client still sends
	// until it hears of that. unheard: it never will.
	broken  bool
	unheard bool
}

// sendInLine sends a request over the client's one connection to a node.
func (c *client) sendInLine(r *round, node int) {
	w := c.world
	i := w.network.messages.put(message{round: r, sent: w.now, client: int32(c.id), node: int32(node)})
	w.inLine(i, w.network.link(c.id, node).line())
	w.sendRequest(i)
}

// line returns the connection that carries all requests over the link.
func (l *link) line() *connection {
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

// inLine puts a request at the end of what goes over a connection.
func (w *World) inLine(i int32, c *connection) {
	m := w.network.messages.at(i)
	m.connection = c
	if !c.unheard {
		c.asked = append(c.asked, m.round)
	}
	if !c.broken {
		c.requests.push(i)
	}
}

// forget takes message i, which will never arrive, off the connection; or the
// news of its end, if that is what will never arrive. Of what was asked, the
// answers on their way come first, and the requests on their way last.
func (c *connection) forget(i int32, news bool) {
	if news {
		c.unheard, c.asked = true, nil
		return
	}
	at := c.replies.drop(i)
	if k := c.requests.drop(i); k >= 0 {
		at = len(c.asked) - len(c.requests.places) - 1 + k
	}
	if at >= 0 {
		c.asked = slices.Delete(c.asked, at, at+1)
	}
}

// requestInLine serves a request that has come to the node over a connection,
// unless another has to come before, and then those that waited for it.
func (w *World) requestInLine(i int32, c *connection) {
	if c.broken {
		w.network.messages.take(i)
		return
	}
	c.requests.arrive(i)
	for !c.broken && c.requests.next() {
		w.comeToNode(c.requests.pop())
	}
}

// replyInLine does the same with a reply that has come to the client. The news
// of a reset does not wait for what it has made an end of.
func (w *World) replyInLine(i int32) {
	m := w.network.messages.at(i)
	client, node, c := int(m.client), int(m.node), m.connection
	switch {
	case m.reset:
		w.closed(i)
	case c.broken:
		w.network.messages.take(i)
	default:
		c.replies.arrive(i)
		for c.replies.next() {
			c.asked = c.asked[1:]
			w.answered(c.replies.pop())
		}
		w.drained(client, node)
	}
}

// closed tells the client that the connection of message i is no more. Its
// next request makes a new one. That it hears so once more does no harm.
func (w *World) closed(i int32) {
	m := w.network.messages.take(i)
	c := m.connection
	if l := w.network.link(int(m.client), int(m.node)); l.connection == c {
		l.connection = nil
	}
	for _, r := range c.asked {
		w.network.arrived(int(m.node), r, env.Lost, brokenOff)
		r.deliver(int(m.node), env.Lost, brokenOff)
	}
	c.asked = nil
	w.drained(int(m.client), int(m.node))
}

// sever breaks the connection. What has arrived and waits for something before
// it is lost at once; what is on its way, when it arrives.
func (w *World) sever(c *connection) {
	c.broken = true
	for _, l := range []*line{&c.requests, &c.replies} {
		for _, p := range l.places {
			if p.here {
				w.network.messages.take(p.message)
			}
		}
		l.places = nil
	}
}

// line is one direction of a connection: the messages that have been sent and
// not yet been taken in, in order. What arrives before something that was sent
// earlier waits for it, as segments do in TCP.
type line struct{ places []place }

type place struct {
	message int32
	here    bool // it has arrived
}

func (l *line) push(i int32) { l.places = append(l.places, place{message: i}) }

func (l *line) arrive(i int32) {
	for k := range l.places {
		if l.places[k].message == i {
			l.places[k].here = true
			return
		}
	}
}

// drop takes a message out of the line, and returns the place that it had, or
// -1 if it had none.
func (l *line) drop(i int32) int {
	k := slices.IndexFunc(l.places, func(p place) bool { return p.message == i })
	if k >= 0 {
		l.places = slices.Delete(l.places, k, k+1)
	}
	return k
}

// next reports whether the first message has arrived.
func (l *line) next() bool { return len(l.places) > 0 && l.places[0].here }

func (l *line) pop() int32 {
	first := l.places[0].message
	l.places = l.places[1:]
	return first
}
