package wire

import (
	"context"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lockstorm/lockstorm/internal/world"
	"github.com/lockstorm/lockstorm/nemesis"
)

// Link connects one client to one node.
type Link struct {
	Requests *Direction // from the client to the node
	Replies  *Direction // from the node to the client

	path    path
	copier  *copier
	dialled atomic.Bool
	refuses atomic.Bool
}

// path makes the connections of a link.
type path interface {
	// addr is where the client finds the node, as host:port.
	addr() string

	// dial makes a connection.
	dial(ctx context.Context) (net.Conn, error)

	// node makes a connection to the node that bypasses the link.
	node() (Session, error)

	// lead redirects the path to another address and closes its connections.
	lead(addr string) error

	// stop closes all connections. Nobody dials any more.
	stop()
}

// Addr returns where the client finds the node, as host:port. It stays the same as long as
// the network lives. On a network of proxies anybody can connect to it.
func (l *Link) Addr() string { return l.path.addr() }

// Dialled reports whether anybody has connected at the address of the link.
func (l *Link) Dialled() bool { return l.dialled.Load() }

// Dial connects the client to the node.
func (l *Link) Dial(ctx context.Context) (net.Conn, error) { return l.path.dial(ctx) }

// Refuse makes the link refuse new connections although the node's server may run, or stops that.
func (l *Link) Refuse(on bool) { l.refuses.Store(on) }

// Redirect makes the link lead to another address and closes its connections. Only links of
// proxies can do that.
func (l *Link) Redirect(addr string) error { return l.path.lead(addr) }

// Retry makes the proxy try again, for so long, to connect to a node that is down, before it closes the
// client's connection. For a client that tries again when a connection is refused, but not when one is
// closed at once. Only links of proxies can do that.
func (l *Link) Retry(patience time.Duration) { l.path.(*proxy).waitFor(patience) }

// Rewrite makes rewrite read what the client sends over each new connection; what it returns is sent to
// the node. Only links of proxies can do that.
func (l *Link) Rewrite(rewrite func(sent io.Reader) io.Reader) { l.path.(*proxy).rewriteBy(rewrite) }

// Each calls do with one direction of the link, or with both.
func (l *Link) Each(direction nemesis.Direction, do func(*Direction)) {
	if direction.Includes(nemesis.Requests) {
		do(l.Requests)
	}
	if direction.Includes(nemesis.Replies) {
		do(l.Replies)
	}
}

// Network holds the links of all clients to all nodes.
type Network struct {
	links  [][]*Link // by client and node, from 0
	closed chan struct{}
}

// newNetwork returns a network without links.
func newNetwork() *Network {
	return &Network{closed: make(chan struct{})}
}

// connect gives each client a link to each node. Clients and nodes are numbered from 1.
// After an error everything is closed.
func (n *Network) connect(clients, nodes int, lay func(l *Link, client, node int) error) (*Network, error) {
	for client := 1; client <= clients; client++ {
		n.links = append(n.links, nil)
		for node := 1; node <= nodes; node++ {
			l := &Link{
				Requests: n.newDirection(client, node, nemesis.Requests),
				Replies:  n.newDirection(client, node, nemesis.Replies),
			}
			l.copier = newCopier(func() (Session, error) { return l.path.node() })
			l.Requests.copier = l.copier
			if err := lay(l, client, node); err != nil {
				n.Close()
				return nil, err
			}
			n.links[client-1] = append(n.links[client-1], l)
		}
	}
	return n, nil
}

// Link returns the link of a client to a node, both numbered from 1.
func (n *Network) Link(client, node int) *Link { return n.links[client-1][node-1] }

// Clients returns how many clients have links.
func (n *Network) Clients() int { return len(n.links) }

// Dialer returns a function that connects a client to the node at a [Link.Addr].
func (n *Network) Dialer(client int) func(ctx context.Context, network, addr string) (net.Conn, error) {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		for _, l := range n.links[client-1] {
			if l.Addr() == addr {
				return l.Dial(ctx)
			}
		}
		return nil, &net.OpError{Op: "dial", Net: network, Err: &net.AddrError{Err: "no such node", Addr: addr}}
	}
}

// KeepAlive makes the node's end of each connection close when its link has let nothing pass in a
// direction for so long, as servers close connections whose keepalive probes are not answered. Those
// of the nodes themselves are of no use: the machine of the proxy answers them. It has to be called
// before there are faults, on a network of proxies.
func (n *Network) KeepAlive(after time.Duration) {
	for _, links := range n.links {
		for _, l := range links {
			p := l.path.(*proxy)
			l.Each(nemesis.Both, func(d *Direction) { d.keepAlive, d.lose = after, p.lose })
		}
	}
}

// Close closes all connections. Messages that are held back are dropped.
func (n *Network) Close() {
	close(n.closed)
	for _, links := range n.links {
		for _, l := range links {
			l.path.stop()
			l.copier.close()
		}
	}
}

// Direction is one direction of a link. It is safe for concurrent use.
type Direction struct {
	base   nemesis.Message // what all its messages have in common
	closed <-chan struct{} // closed when the network closes
	copier *copier         // duplicates requests; nil in the direction of replies

	keepAlive time.Duration // after which silence ends the node's connections; 0: never
	lose      func()        // ends them

	mu      sync.Mutex
	silence *time.Timer // runs while nothing can pass; nil: something can
	faults  directionFaults
	free    time.Time     // when the last message has left that came while the bandwidth was limited
	changed chan struct{} // closed and replaced with every change of faults
}

// directionFaults is what faults currently do to a direction.
type directionFaults struct {
	rules     world.Rules
	resets    bool   // a message resets its connection
	resetNext func() // the next message to come does, and this is called; nil: it does not
	silent    bool   // the machine at the other end is suspended
	perSecond int64  // bytes; 0: unlimited

	copies func() time.Duration // how much later a copy of each request arrives; nil: no copies
}

func (n *Network) newDirection(client, node int, direction nemesis.Direction) *Direction {
	return &Direction{
		base:   nemesis.Message{Client: client, Node: node, Way: direction},
		closed: n.closed, changed: make(chan struct{}),
	}
}

// Impose adds the rule of a fault. Messages already under way keep their delay, but the
// rule may hold them back. No message overtakes another.
func (d *Direction) Impose(fault int, r nemesis.Rule) {
	d.change(func(g *directionFaults) { g.rules = g.rules.With(r, fault, false) })
}

// Lift removes the rule of a fault. The messages that it held back continue.
func (d *Direction) Lift(fault int) {
	d.change(func(g *directionFaults) { g.rules = g.rules.Without(fault) })
}

// Reset makes each message in this direction reset its connection, or stops that. A
// request is lost before the node sees it, a reply after the node has applied it.
func (d *Direction) Reset(on bool) {
	d.change(func(g *directionFaults) { g.resets, g.resetNext = on, nil })
}

// ResetNext makes the next message in this direction reset its connection, and calls struck when it
// has come. Messages under way do not reset theirs.
func (d *Direction) ResetNext(struck func()) {
	d.change(func(g *directionFaults) { g.resetNext = struck })
}

// takeReset reports whether the message that has come is the one that [Direction.ResetNext] waits for.
func (d *Direction) takeReset() bool {
	d.mu.Lock()
	struck := d.faults.resetNext
	d.faults.resetNext = nil
	d.mu.Unlock()
	if struck != nil {
		struck()
	}
	return struck != nil
}

// Silence says whether the machine at the other end is suspended. That matters only to
// [Network.KeepAlive].
func (d *Direction) Silence(on bool) { d.change(func(g *directionFaults) { g.silent = on }) }

// Narrow limits the bytes per second of all connections together. 0 means no limit;
// messages that waited continue.
func (d *Direction) Narrow(perSecond int64) {
	d.change(func(g *directionFaults) { g.perSecond = perSecond })
}

// Copy sends every request to its node once more, later by what after returns. A copy
// travels over a connection of its own, which no other fault affects, and its reply is
// dropped. nil ends the copying; copies under way still arrive.
func (d *Direction) Copy(after func() time.Duration) {
	d.change(func(g *directionFaults) { g.copies = after })
}

func (d *Direction) change(how func(*directionFaults)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	how(&d.faults)
	d.watchSilence()
	close(d.changed)
	d.changed = make(chan struct{})
}

// watchSilence starts the timer of KeepAlive when nothing can pass any more, and stops it when
// something can. The caller holds mu.
func (d *Direction) watchSilence() {
	held, _ := d.faults.rules.Holds(d.base)
	switch silent := d.faults.silent || held; {
	case d.keepAlive == 0:
	case silent && d.silence == nil:
		d.silence = time.AfterFunc(d.keepAlive, d.lose)
	case !silent && d.silence != nil:
		d.silence.Stop()
		d.silence = nil
	}
}

// now returns the faults and a channel that is closed when it changes.
func (d *Direction) now() (directionFaults, <-chan struct{}) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.faults, d.changed
}

// sentBy returns when a message of that size, arriving now, has been sent at the limited
// bandwidth, after all messages before it. Without a limit it returns the zero time.
func (d *Direction) sentBy(bytes int) time.Time {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.faults.perSecond == 0 {
		return time.Time{}
	}
	if now := time.Now(); d.free.Before(now) {
		d.free = now
	}
	d.free = d.free.Add(time.Duration(float64(bytes) / float64(d.faults.perSecond) * float64(time.Second)))
	return d.free
}
