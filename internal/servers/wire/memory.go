package wire

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/Shopify/toxiproxy/v2/stream"
	"github.com/Shopify/toxiproxy/v2/toxics"
)

// Host is a node in the memory of this program.
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

// OpenInMemory makes a network without sockets: for each client a link to every node.
// Faults act on its directions as on those of proxies. Its goroutines block on channels and
// timers only, so it may live in a bubble of testing/synctest, where time is virtual.
// Connecting takes no time; a node that is down refuses at once.
func OpenInMemory(clients int, nodes []Host) (*Network, error) {
	return newNetwork().connect(clients, len(nodes), func(l *Link, client, node int) error {
		l.path = &memoryPath{
			link: l, client: client, host: nodes[node-1],
			requests: &faultToxic{l.Requests}, replies: &faultToxic{l.Replies},
			open: map[*memoryLink]struct{}{},
		}
		return nil
	})
}

// memoryPath is a path in memory, with its connections.
type memoryPath struct {
	link     *Link
	client   int
	host     Host
	requests *faultToxic
	replies  *faultToxic

	mu         sync.Mutex
	open       map[*memoryLink]struct{}
	stopped    bool
	forwarders sync.WaitGroup // the goroutines of all connections
}

func (p *memoryPath) addr() string { return p.host.Addr() }

func (p *memoryPath) node() (Session, error) { return p.host.Connect(p.client) }

func (p *memoryPath) lead(string) error { return errors.New("a link in memory leads to its node only") }

// memoryLink is a connection over a memoryPath.
type memoryLink struct {
	near  *clientConn
	far   Session
	ended int // directions
}

func (p *memoryPath) dial(ctx context.Context) (net.Conn, error) {
	if err := ctx.Err(); err != nil {
		return nil, p.failed(err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stopped {
		return nil, p.failed(net.ErrClosed)
	}
	if p.link.refuses.Load() {
		return nil, p.failed(syscall.ECONNREFUSED)
	}
	far, err := p.host.Connect(p.client)
	if err != nil {
		return nil, p.failed(err)
	}
	c := &memoryLink{near: newConn(address(fmt.Sprintf("client-%d", p.client)), address(p.addr())), far: far}
	p.open[c] = struct{}{}
	p.forward(c)
	return c.near, nil
}

func (p *memoryPath) failed(err error) error {
	return &net.OpError{Op: "dial", Net: memoryName, Addr: address(p.addr()), Err: err}
}

// forward starts the goroutines of a connection. What the client sends passes one toxic on
// its way to the node; replies pass the other. The end of one direction travels the same
// way and then ends the other direction.
func (p *memoryPath) forward(c *memoryLink) {
	asked, answered := make(chan *stream.StreamChunk), make(chan *stream.StreamChunk)
	come := make(chan *stream.StreamChunk)
	p.forwarders.Go(func() { p.requests.Pipe(toxics.NewToxicStub(c.near.sent, asked)) })
	p.forwarders.Go(func() {
		c.sendRequests(asked)
		p.ended(c)
	})
	p.forwarders.Go(func() { c.readReplies(come) })
	p.forwarders.Go(func() { p.replies.Pipe(toxics.NewToxicStub(come, answered)) })
	p.forwarders.Go(func() {
		for chunk := range answered {
			c.near.receive(chunk.Data)
		}
		c.near.hangUp()
		p.ended(c)
	})
}

// ended records that one direction of a connection has ended. The other one may still hold
// messages back.
func (p *memoryPath) ended(c *memoryLink) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if c.ended++; c.ended == 2 {
		delete(p.open, c)
	}
}

// sendRequests passes requests to the node, and closes the node's end after the last one.
func (c *memoryLink) sendRequests(asked <-chan *stream.StreamChunk) {
	for chunk := range asked {
		if err := c.far.Ask(chunk.Data, chunk.Timestamp); err != nil {
			drain(asked)
		}
	}
	_ = c.far.Close()
}

// readReplies passes on the node's replies, and closes the channel at their end.
func (c *memoryLink) readReplies(replies chan<- *stream.StreamChunk) {
	defer close(replies)
	for piece := make([]byte, pieceSize); ; {
		n, err := c.far.Read(piece)
		if n > 0 {
			replies <- &stream.StreamChunk{Data: slices.Clone(piece[:n])}
		}
		if err != nil {
			return
		}
	}
}

// pieceSize is the size of the buffer for replies, in bytes. A lock's replies are smaller.
const pieceSize = 4096

// stop implements path. It returns when all goroutines have ended.
func (p *memoryPath) stop() {
	p.mu.Lock()
	p.stopped = true
	for c := range p.open {
		_ = c.near.Close()
		_ = c.far.Close()
	}
	p.mu.Unlock()
	p.forwarders.Wait()
}

// memoryName is what [net.Addr.Network] returns for a network in memory.
const memoryName = "memory"

// address is the address of one end of a connection in memory.
type address string

func (address) Network() string  { return memoryName }
func (a address) String() string { return string(a) }

// clientConn is the client's end of a connection in memory. Writing never blocks for a
// fault: the toxic queues what is on its way. No lock is held while a goroutine waits.
type clientConn struct {
	local, remote address

	sending sync.Mutex // held briefly: the toxic receives at once
	sent    chan *stream.StreamChunk
	ended   bool // sent is closed

	mu      sync.Mutex
	arrived []byte
	over    bool // no more data will arrive
	closed  bool
	reads   time.Time     // deadline of reads; zero: none
	writes  time.Time     // deadline of writes
	changed chan struct{} // closed and replaced at every change
}

func newConn(local, remote address) *clientConn {
	return &clientConn{local: local, remote: remote, sent: make(chan *stream.StreamChunk), changed: make(chan struct{})}
}

// change changes state that readers wait for.
func (c *clientConn) change(how func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	how()
	close(c.changed)
	c.changed = make(chan struct{})
}

// receive adds data from the node.
func (c *clientConn) receive(piece []byte) {
	c.change(func() { c.arrived = append(c.arrived, piece...) })
}

// hangUp ends the connection in both directions.
func (c *clientConn) hangUp() {
	c.change(func() { c.over = true })
	c.closeSending()
}

// closeSending ends the direction to the node.
func (c *clientConn) closeSending() {
	c.sending.Lock()
	defer c.sending.Unlock()
	if !c.ended {
		c.ended = true
		close(c.sent)
	}
}

// Read implements [net.Conn].
func (c *clientConn) Read(p []byte) (int, error) {
	for {
		n, limit, changed, err := c.tryRead(p, true)
		if n > 0 || err != nil || len(p) == 0 {
			return n, c.failed("read", err)
		}
		waitForChange(limit, changed)
	}
}

// ReadArrived reads what has arrived, without waiting and whatever the deadline is.
func (c *clientConn) ReadArrived(p []byte) (int, error) {
	n, _, _, err := c.tryRead(p, false)
	return n, c.failed("read", err)
}

// tryRead reads what has arrived. With inTime it respects the deadline. If there is nothing
// to read and no error, it returns the deadline and a channel that is closed at the next
// change.
func (c *clientConn) tryRead(p []byte, inTime bool) (n int, limit time.Time, changed <-chan struct{}, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.closed:
		err = net.ErrClosed
	case inTime && deadlinePassed(c.reads):
		err = os.ErrDeadlineExceeded
	case len(c.arrived) > 0:
		n = copy(p, c.arrived)
		c.arrived = slices.Delete(c.arrived, 0, n)
	case c.over:
		err = io.EOF
	}
	return n, c.reads, c.changed, err
}

// deadlinePassed reports whether a deadline is set and has passed.
func deadlinePassed(limit time.Time) bool { return !limit.IsZero() && !time.Now().Before(limit) }

// waitForChange waits for a change, or until the deadline.
func waitForChange(limit time.Time, changed <-chan struct{}) {
	if limit.IsZero() {
		<-changed
		return
	}
	timer := time.NewTimer(time.Until(limit))
	defer timer.Stop()
	select {
	case <-changed:
	case <-timer.C:
	}
}

// Write implements [net.Conn].
func (c *clientConn) Write(p []byte) (int, error) {
	if err := c.mayWrite(); err != nil {
		return 0, c.failed("write", err)
	}
	c.sending.Lock()
	defer c.sending.Unlock()
	if c.ended {
		return 0, c.failed("write", syscall.EPIPE)
	}
	if len(p) > 0 {
		c.sent <- &stream.StreamChunk{Data: slices.Clone(p), Timestamp: time.Now()}
	}
	return len(p), nil
}

func (c *clientConn) mayWrite() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.closed:
		return net.ErrClosed
	case deadlinePassed(c.writes):
		return os.ErrDeadlineExceeded
	}
	return nil
}

// failed wraps an error as sockets do. io.EOF stays as it is.
func (c *clientConn) failed(op string, err error) error {
	if err == nil || err == io.EOF { //nolint:errorlint // never wrapped here
		return err
	}
	return &net.OpError{Op: op, Net: memoryName, Source: c.local, Addr: c.remote, Err: err}
}

// Close implements [net.Conn]. Data that was written still arrives.
func (c *clientConn) Close() error {
	c.change(func() { c.closed = true })
	c.closeSending()
	return nil
}

// LocalAddr implements [net.Conn].
func (c *clientConn) LocalAddr() net.Addr { return c.local }

// RemoteAddr implements [net.Conn].
func (c *clientConn) RemoteAddr() net.Addr { return c.remote }

// SetDeadline implements [net.Conn].
func (c *clientConn) SetDeadline(t time.Time) error {
	c.change(func() { c.reads, c.writes = t, t })
	return nil
}

// SetReadDeadline implements [net.Conn].
func (c *clientConn) SetReadDeadline(t time.Time) error {
	c.change(func() { c.reads = t })
	return nil
}

// SetWriteDeadline implements [net.Conn].
func (c *clientConn) SetWriteDeadline(t time.Time) error {
	c.change(func() { c.writes = t })
	return nil
}
