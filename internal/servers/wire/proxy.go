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

// Open makes a network of proxies on loopback: for each client a link to every node, given
// as host:port.
func Open(clients int, nodes []string) (*Network, error) {
	return newNetwork().connect(clients, len(nodes), func(l *Link, client, node int) error {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return fmt.Errorf("proxy of client %d and node %d: %w", client, node, err)
		}
		p := newProxy(listener, nodes[node-1], l)
		p.running.Go(p.serve)
		l.path = p
		return nil
	})
}

// newProxy returns the path of a link to a node. It does not serve yet.
func newProxy(listener net.Listener, node string, l *Link) *proxy {
	return &proxy{
		listener: listener, link: l, upstream: &upstream{node}, open: map[net.Conn]bool{},
		requests: &faultToxic{l.Requests}, replies: &faultToxic{l.Replies},
	}
}

// proxy is a path through a TCP proxy. It listens as long as the network lives, perhaps with others
// at one listener.
//
// Toxiproxy has a proxy, too, but its package brings an HTTP server and Prometheus. Only
// its streams and toxics are used here.
type proxy struct {
	listener net.Listener
	link     *Link
	requests toxics.Toxic
	replies  toxics.Toxic

	mu       sync.Mutex
	rewrite  func(io.Reader) io.Reader // what clients send; nil: as they do
	patience time.Duration             // for which a node that is down is tried again
	upstream *upstream                 // replaced to close connections, even by the same address
	open     map[net.Conn]bool         // both ends of all connections; whether it is the node's

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

func (p *proxy) rewriteBy(rewrite func(io.Reader) io.Reader) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.rewrite = rewrite
}

func (p *proxy) patient() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.patience
}

func (p *proxy) waitFor(patience time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.patience = patience
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

// lose closes the node's ends of all connections. The client sees that when the link lets the news
// pass.
func (p *proxy) lose() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for conn, node := range p.open {
		if node {
			_ = conn.Close()
		}
	}
}

func (p *proxy) node() (Session, error) {
	conn, err := net.Dial("tcp", p.current().addr)
	return directConn{conn}, err
}

// directConn is a connection to a node without a proxy.
type directConn struct{ net.Conn }

// Ask implements [Session].
func (d directConn) Ask(piece []byte, _ time.Time) error {
	_, err := d.Write(piece)
	return err
}

// stop implements path. It returns when all connections are closed.
func (p *proxy) stop() {
	_ = p.listener.Close()
	_ = p.lead("") // dialling it fails
	p.running.Wait()
}

// serve accepts connections until the listener is closed.
func (p *proxy) serve() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		p.link.dialled.Store(true)
		if patience := p.patient(); patience > 0 {
			p.running.Go(func() { p.insist(client, time.Now().Add(patience)) })
		} else if !p.connect(client) {
			_ = client.Close()
		}
	}
}

// retryInterval is the time between two attempts to connect a client to a node that is down.
const retryInterval = 10 * time.Millisecond

// insist tries again and again to connect a client to its node, until a deadline.
func (p *proxy) insist(client net.Conn, until time.Time) {
	for !p.connect(client) {
		if time.Now().After(until) || p.current().addr == "" {
			_ = client.Close()
			return
		}
		time.Sleep(retryInterval)
	}
}

// connect connects a client to its node. It reports false if the node is down, or if the
// proxy leads elsewhere by now. A node that the link refuses may be up: it is dialled first, so that
// no connection from the time in which it was refused is used later.
func (p *proxy) connect(client net.Conn) bool {
	to := p.current()
	node, err := net.Dial("tcp", to.addr)
	if err != nil {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.upstream != to || p.link.refuses.Load() {
		_ = node.Close()
		return false
	}
	p.open[client], p.open[node] = false, true
	p.forward(client, node, p.requests, p.rewrite)
	p.forward(node, client, p.replies, nil)
	return true
}

// forward starts the goroutines for one direction of a connection. Bytes pass the toxic,
// and so does the end of the connection, which closes the other side.
func (p *proxy) forward(from, to net.Conn, toxic toxics.Toxic, rewrite func(io.Reader) io.Reader) {
	in, out := make(chan *stream.StreamChunk), make(chan *stream.StreamChunk)
	p.running.Go(func() {
		w, sent := stream.NewChanWriter(in), io.Reader(from)
		if rewrite != nil {
			sent = rewrite(from)
		}
		_, _ = io.Copy(w, sent)
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

// copier sends requests to a node a second time, as a proxy that retries does. Each copy
// has its own connection, so it can arrive late. The node's reply to it is dropped: the
// client would take it for the reply to its next request.
type copier struct {
	node func() (Session, error) // makes a connection that bypasses the link

	mu      sync.Mutex
	closed  bool
	over    chan struct{} // closed with it
	pending sync.WaitGroup
}

func newCopier(node func() (Session, error)) *copier {
	return &copier{node: node, over: make(chan struct{})}
}

// send sends a copy after a delay, in the background. sent is when the original was sent.
func (c *copier) send(piece []byte, sent time.Time, after time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.closed {
		c.pending.Go(func() { c.deliver(piece, sent, after) })
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
		_, _ = io.Copy(io.Discard, to) // until the connection ends
	})
	both.Go(func() {
		_ = to.Ask(append(piece[:len(piece):len(piece)], quitCommand...), sent) // fails only if the connection has ended
	})
	select {
	case <-ended:
	case <-c.over:
	}
	_ = to.Close()
	both.Wait()
}

// quitCommand makes the node close a connection when it has processed everything before it.
const quitCommand = "*1\r\n$4\r\nQUIT\r\n"

// close drops all copies that have not been sent.
func (c *copier) close() {
	c.mu.Lock()
	if !c.closed {
		c.closed = true
		close(c.over)
	}
	c.mu.Unlock()
	c.pending.Wait()
}

// wholeCommands reports whether a message consists of complete commands. Others are not
// copied.
func wholeCommands(piece []byte) bool {
	for len(piece) > 0 {
		_, rest, ok := command(piece)
		if !ok {
			return false
		}
		piece = rest
	}
	return true
}
