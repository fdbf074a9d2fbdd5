package wire

import (
	"context"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"github.com/Shopify/toxiproxy/v2/stream"
	"github.com/Shopify/toxiproxy/v2/toxics"
)

// Open makes a network of proxies on loopback: a link to every node, given by its
// host:port, for each of the clients. Rules know keys without the prefix that the clients
// put in front of them.
func Open(clients int, nodes []string, prefix string) (*Network, error) {
	return newNetwork(prefix).connect(clients, len(nodes), func(l *Link, client, node int) error {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return fmt.Errorf("proxy of client %d and node %d: %w", client, node, err)
		}
		p := &proxy{
			listener: listener, upstream: &upstream{nodes[node-1]}, open: map[net.Conn]struct{}{},
			requests: &faultToxic{l.Requests}, replies: &faultToxic{l.Replies},
		}
		p.running.Go(p.serve)
		l.path = p
		return nil
	})
}

// proxy is a path over a TCP proxy. It listens as long as the network lives.
//
// Toxiproxy has such a proxy, too, but its package brings an HTTP server and Prometheus; its
// streams and toxics are used here without them.
type proxy struct {
	listener net.Listener
	requests toxics.Toxic
	replies  toxics.Toxic

	mu       sync.Mutex
	upstream *upstream             // replaced, to end connections, even by one of the same address
	open     map[net.Conn]struct{} // both ends of all connections

	running sync.WaitGroup // the goroutines of the listener and of all connections
}

// upstream is where a proxy leads.
type upstream struct{ addr string }

func (p *proxy) addr() string { return p.listener.Addr().String() }

func (p *proxy) dial(ctx context.Context) (net.Conn, error) {
	return new(net.Dialer).DialContext(ctx, "tcp", p.addr())
}

// current returns where the proxy leads now.
func (p *proxy) current() *upstream {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.upstream
}

func (p *proxy) lead(addr string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.upstream = &upstream{addr}
	for conn := range p.open {
		_ = conn.Close()
	}
	return nil
}

func (p *proxy) node() (Session, error) {
	conn, err := net.Dial("tcp", p.current().addr)
	return direct{conn}, err
}

// direct is a connection to a node without a proxy.
type direct struct{ net.Conn }

// Ask implements [Session].
func (d direct) Ask(piece []byte, _ time.Time) error {
	_, err := d.Write(piece)
	return err
}

// stop implements path. It returns when no connection is left.
func (p *proxy) stop() {
	_ = p.listener.Close()
	_ = p.lead("") // nobody can be dialled there
	p.running.Wait()
}

// serve accepts connections until the listener is closed.
func (p *proxy) serve() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		if !p.connect(client) {
			_ = client.Close()
		}
	}
}

// connect joins a client to its node. It reports false if the node is down, or if the proxy
// leads elsewhere by now.
func (p *proxy) connect(client net.Conn) bool {
	to := p.current()
	node, err := net.Dial("tcp", to.addr)
	if err != nil {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.upstream != to {
		_ = node.Close()
		return false
	}
	p.open[client], p.open[node] = struct{}{}, struct{}{}
	p.carry(client, node, p.requests)
	p.carry(node, client, p.replies)
	return true
}

// carry starts what carries one direction of a connection: what from says passes the toxic on
// its way to the other end. So does the end, which closes that other end.
func (p *proxy) carry(from, to net.Conn, toxic toxics.Toxic) {
	in, out := make(chan *stream.StreamChunk), make(chan *stream.StreamChunk)
	p.running.Go(func() {
		w := stream.NewChanWriter(in)
		_, _ = io.Copy(w, from)
		_ = w.Close()
	})
	p.running.Go(func() { toxic.Pipe(toxics.NewToxicStub(in, out)) })
	p.running.Go(func() {
		_, _ = io.Copy(to, stream.NewChanReader(out))
		_ = to.Close()
		p.mu.Lock()
		delete(p.open, to)
		p.mu.Unlock()
		drain(out)
	})
}

// copier brings what a client has sent to a node once more, as a proxy does that sends
// requests again. Each copy has a connection of its own, over which it may come late, and
// the node's reply to it goes no further: in the client's stream of replies it would be
// taken for that to the next request.
type copier struct {
	node func() (Session, error) // makes a connection to the node, past the link

	mu       sync.Mutex
	closed   bool
	over     chan struct{} // closed with it
	underWay sync.WaitGroup
}

func newCopier(node func() (Session, error)) *copier {
	return &copier{node: node, over: make(chan struct{})}
}

// send sends a piece that was sent first at a time, so much later. It does not wait.
func (c *copier) send(piece []byte, sent time.Time, after time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.closed {
		c.underWay.Go(func() { c.deliver(piece, sent, after) })
	}
}

func (c *copier) deliver(piece []byte, sent time.Time, after time.Duration) {
	timer := time.NewTimer(after)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-c.over:
		return
	}
	to, err := c.node()
	if err != nil {
		return // the node is down, and the copy is lost
	}
	var both sync.WaitGroup
	ended := make(chan struct{})
	both.Go(func() {
		defer close(ended)
		_, _ = io.Copy(io.Discard, to) // until it ends, in whatever way
	})
	both.Go(func() {
		_ = to.Ask(append(piece[:len(piece):len(piece)], quit...), sent) // fails only if it has ended
	})
	select {
	case <-ended:
	case <-c.over:
	}
	_ = to.Close()
	both.Wait()
}

// quit lets the node end a connection when it has carried out all that came before.
const quit = "*1\r\n$4\r\nQUIT\r\n"

// close drops all copies that have not been carried out.
func (c *copier) close() {
	c.mu.Lock()
	if !c.closed {
		c.closed = true
		close(c.over)
	}
	c.mu.Unlock()
	c.underWay.Wait()
}

// whole reports whether a piece is some commands, and nothing else: others are not
// copied.
func whole(piece []byte) bool {
	for len(piece) > 0 {
		_, rest, ok := command(piece)
		if !ok {
			return false
		}
		piece = rest
	}
	return true
}
