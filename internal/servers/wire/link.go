package wire

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/Shopify/toxiproxy/v2/stream"
	"github.com/Shopify/toxiproxy/v2/toxics"

	"github.com/lockstorm/lockstorm/nemesis"
)

// Host is a node.
type Host interface {
	// Addr is the node's name, as host:port.
	Addr() string

	// Connect returns the client's end of a new connection.
	Connect(client int) (Session, error)
}

// Session is the client's end of a connection to a node. One goroutine calls Ask and
// another one reads replies.
type Session interface {
	io.ReadCloser

	// Ask sends data to the node. sent is when the client wrote it. Ask returns when the
	// node has received the data or the connection is closed.
	Ask(piece []byte, sent time.Time) error
}

// tcpHost is a node at an address of the machine, and tcpSession a connection to one.
type (
	tcpHost    string
	tcpSession struct{ net.Conn }
)

func tcpHosts(addrs []string) []Host {
	hosts := make([]Host, len(addrs))
	for i, addr := range addrs {
		hosts[i] = tcpHost(addr)
	}
	return hosts
}

func (h tcpHost) Addr() string { return string(h) }

func (h tcpHost) Connect(int) (Session, error) {
	conn, err := net.Dial("tcp", string(h))
	return tcpSession{conn}, err
}

func (s tcpSession) Ask(piece []byte, _ time.Time) error {
	_, err := s.Write(piece)
	return err
}

// Link connects one client to one node: through a TCP proxy, or in memory.
//
// Toxiproxy has a proxy, too, but its package brings an HTTP server and Prometheus. Only
// its streams and toxics are used here.
type Link struct {
	Requests *Direction // from the client to the node
	Replies  *Direction // from the node to the client

	network  *Network
	client   int
	addr     string
	listener net.Listener // nil: the link is in memory
	dialled  atomic.Bool
	refuses  atomic.Bool

	mu       sync.Mutex
	rewrite  func(io.Reader) io.Reader // what clients send; nil: as they do
	patience time.Duration             // for which a node that is down is tried again
	host     Host                      // nil: the network is closed
	led      int                       // how often the link was redirected
	open     map[io.Closer]bool        // both ends of all connections; whether it is the node's
}

func newLink(n *Network, client, node int, host Host) *Link {
	l := &Link{network: n, client: client, addr: host.Addr(), host: host, open: map[io.Closer]bool{}}
	l.Requests, l.Replies = newDirection(l, node, nemesis.Requests), newDirection(l, node, nemesis.Replies)
	return l
}

// Addr returns where the client finds the node, as host:port. It stays the same as long as
// the network lives. On a network of proxies anybody can connect to it.
func (l *Link) Addr() string { return l.addr }

// Dialled reports whether anybody has connected at the address of the link.
func (l *Link) Dialled() bool { return l.dialled.Load() }

// Refuse makes the link refuse new connections although the node's server may run, or stops that.
func (l *Link) Refuse(on bool) { l.refuses.Store(on) }

// Redirect makes the link lead to another address and closes its connections.
func (l *Link) Redirect(addr string) { l.lead(tcpHost(addr)) }

// Retry makes the proxy try again, for so long, to connect to a node that is down, before it closes the
// client's connection. For a client that tries again when a connection is refused, but not when one is
// closed at once.
func (l *Link) Retry(patience time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.patience = patience
}

// Rewrite makes rewrite read what the client sends over each new connection; what it returns is sent to
// the node.
func (l *Link) Rewrite(rewrite func(sent io.Reader) io.Reader) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.rewrite = rewrite
}

// Each calls do with one direction of the link, or with both.
func (l *Link) Each(direction nemesis.Direction, do func(*Direction)) {
	if direction.Includes(nemesis.Requests) {
		do(l.Requests)
	}
	if direction.Includes(nemesis.Replies) {
		do(l.Replies)
	}
}

// lead makes the link lead to another host, and closes its connections.
func (l *Link) lead(to Host) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.host = to
	l.led++
	for conn := range l.open {
		_ = conn.Close()
	}
}

// close closes everything. The goroutines end then.
func (l *Link) close() {
	if l.listener != nil {
		_ = l.listener.Close()
	}
	l.lead(nil)
}

// lose closes the node's ends of all connections. The client sees that when the link lets the news
// pass.
func (l *Link) lose() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for conn, node := range l.open {
		if node {
			_ = conn.Close()
		}
	}
}

// Dial connects the client to the node.
func (l *Link) Dial(ctx context.Context) (net.Conn, error) {
	if l.listener != nil {
		return new(net.Dialer).DialContext(ctx, "tcp", l.addr)
	}
	near, far := net.Pipe()
	err := ctx.Err()
	if err == nil {
		err = l.connect(far)
	}
	if err != nil {
		return nil, &net.OpError{Op: "dial", Net: "memory", Addr: &net.UnixAddr{Name: l.addr}, Err: err}
	}
	return memoryConn{near}, nil
}

// memoryConn is the client's end of a connection in memory. Its errors are those of sockets, by which
// libraries decide whether they try again. Writing never blocks for a fault: a toxic queues what is
// on its way.
type memoryConn struct{ net.Conn }

func (c memoryConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if errors.Is(err, io.ErrClosedPipe) {
		err = &net.OpError{Op: "read", Net: "memory", Err: net.ErrClosed}
	}
	return n, err
}

func (c memoryConn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	if errors.Is(err, io.ErrClosedPipe) {
		err = &net.OpError{Op: "write", Net: "memory", Err: syscall.EPIPE}
	}
	return n, err
}

// A pipe whose other end is closed has no deadlines, and needs none: nothing waits at it.

func (c memoryConn) SetDeadline(t time.Time) error      { _ = c.Conn.SetDeadline(t); return nil }
func (c memoryConn) SetReadDeadline(t time.Time) error  { _ = c.Conn.SetReadDeadline(t); return nil }
func (c memoryConn) SetWriteDeadline(t time.Time) error { _ = c.Conn.SetWriteDeadline(t); return nil }

// accept takes a connection of the client that has come to the listener.
func (l *Link) accept(client net.Conn) {
	l.dialled.Store(true)
	l.mu.Lock()
	patience := l.patience
	l.mu.Unlock()
	if patience > 0 {
		l.network.running.Go(func() { l.insist(client, time.Now().Add(patience)) })
	} else if l.connect(client) != nil {
		_ = client.Close()
	}
}

// retryInterval is the time between two attempts to connect a client to a node that is down.
const retryInterval = 10 * time.Millisecond

// insist tries again and again to connect a client to its node, until a deadline.
func (l *Link) insist(client net.Conn, until time.Time) {
	for err := l.connect(client); err != nil; err = l.connect(client) {
		if time.Now().After(until) || errors.Is(err, net.ErrClosed) {
			_ = client.Close()
			return
		}
		time.Sleep(retryInterval)
	}
}

// node returns where the link leads, and how often it was redirected before.
func (l *Link) node() (to Host, led int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.host, l.led
}

// connect connects a client to its node. It fails if the node is down, or if the link leads elsewhere
// by now. A node that the link refuses may be up: it is dialled first, so that no connection from the
// time in which it was refused is used later.
func (l *Link) connect(client net.Conn) error {
	to, led := l.node()
	if to == nil {
		return net.ErrClosed
	}
	node, err := to.Connect(l.client)
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.led != led || l.refuses.Load() {
		_ = node.Close()
		return syscall.ECONNREFUSED
	}
	l.open[client], l.open[node] = false, true
	sent := io.Reader(client)
	if l.rewrite != nil {
		sent = l.rewrite(client)
	}
	l.forward(sent, l.Requests, node.Ask, node)
	l.forward(node, l.Replies, func(piece []byte, _ time.Time) error {
		_, err := client.Write(piece)
		return err
	}, client)
	return nil
}

// forward starts the goroutines for one direction of a connection. Bytes pass the direction's toxic,
// and so does the end of the connection, which closes the other side.
func (l *Link) forward(from io.Reader, way *Direction, deliver func(piece []byte, sent time.Time) error, to io.Closer) {
	in := make(chan *stream.StreamChunk)
	l.network.running.Go(func() {
		w := stream.NewChanWriter(in)
		_, _ = io.Copy(w, from)
		_ = w.Close()
	})
	out := l.pass(way, in)
	if l.listener == nil && way == l.Replies {
		// Nobody writes ahead into a pipe. What has arrived waits here until the client reads, and no
		// fault holds it back any more.
		out = l.pass(newDirection(l, 0, nemesis.Replies), out)
	}
	l.network.running.Go(func() {
		for chunk := range out {
			if deliver(chunk.Data, chunk.Timestamp) != nil {
				break
			}
		}
		_ = to.Close()
		l.mu.Lock()
		delete(l.open, to)
		l.mu.Unlock()
		drain(out)
	})
}

// pass makes chunks pass the toxic of a direction.
func (l *Link) pass(way *Direction, in chan *stream.StreamChunk) chan *stream.StreamChunk {
	out := make(chan *stream.StreamChunk)
	l.network.running.Go(func() { (&faultToxic{way}).Pipe(toxics.NewToxicStub(in, out)) })
	return out
}

// copy sends a request to the node a second time, as a proxy that retries does. Each copy has its own
// connection, so it can arrive late. The node's reply to it is dropped: the client would take it for
// the reply to its next request. sent is when the original was sent.
func (l *Link) copy(piece []byte, sent time.Time, after time.Duration) {
	timer := time.NewTimer(after)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-l.network.closed:
		return
	}
	node, _ := l.node()
	if node == nil {
		return
	}
	to, err := node.Connect(l.client)
	if err != nil {
		return // the node is down, and the copy is lost
	}
	ended := make(chan struct{})
	l.network.running.Go(func() {
		defer close(ended)
		_, _ = io.Copy(io.Discard, to) // until the connection ends
	})
	l.network.running.Go(func() {
		_ = to.Ask(append(piece[:len(piece):len(piece)], quitCommand...), sent) // fails only if the connection has ended
	})
	select {
	case <-ended:
	case <-l.network.closed:
	}
	_ = to.Close()
}

// quitCommand makes the node close a connection when it has processed everything before it.
const quitCommand = "*1\r\n$4\r\nQUIT\r\n"
