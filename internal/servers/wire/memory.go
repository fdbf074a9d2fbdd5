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
	// Addr is what the node is called, host:port, if anybody asks.
	Addr() string

	// Connect returns the end of a new connection that a client has.
	Connect(client int) (Session, error)
}

// Session is the client's end of a connection to a node. Only one goroutine asks, and
// another reads what the node says.
type Session interface {
	io.ReadCloser

	// Ask gives the node what was sent at a time, and waits until it has taken it, or the
	// connection is closed.
	Ask(piece []byte, sent time.Time) error
}

// OpenInMemory makes a network without a socket: a link to every node for each of the
// clients. The same rules are imposed on the same ways as on a network of proxies. Nothing
// in it waits but for a channel or a timer, so that it may live in a bubble of
// testing/synctest, and its time is virtual there. A node that is down refuses a connection
// at once; all others are made at once.
func OpenInMemory(clients int, nodes []Host, prefix string) (*Network, error) {
	return newNetwork(prefix).connect(clients, len(nodes), func(l *Link, client, node int) error {
		l.path = &pipes{
			client: client, host: nodes[node-1],
			requests: &faultToxic{l.Requests}, replies: &faultToxic{l.Replies},
			open: map[*pipe]struct{}{},
		}
		return nil
	})
}

// pipes is a path in memory, and its connections.
type pipes struct {
	client   int
	host     Host
	requests *faultToxic
	replies  *faultToxic

	mu         sync.Mutex
	open       map[*pipe]struct{}
	stopped    bool
	forwarders sync.WaitGroup // the goroutines of all connections
}

func (p *pipes) addr() string { return p.host.Addr() }

func (p *pipes) node() (Session, error) { return p.host.Connect(p.client) }

func (p *pipes) lead(string) error { return errors.New("a link in memory leads to its node only") }

// pipe is a connection over it: the client's end and that of the node.
type pipe struct {
	near  *conn
	far   Session
	ended int // directions
}

func (p *pipes) dial(ctx context.Context) (net.Conn, error) {
	if err := ctx.Err(); err != nil {
		return nil, p.failed(err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stopped {
		return nil, p.failed(net.ErrClosed)
	}
	far, err := p.host.Connect(p.client)
	if err != nil {
		return nil, p.failed(err)
	}
	c := &pipe{near: newConn(address(fmt.Sprintf("client-%d", p.client)), address(p.addr())), far: far}
	p.open[c] = struct{}{}
	p.carry(c)
	return c.near, nil
}

func (p *pipes) failed(err error) error {
	return &net.OpError{Op: "dial", Net: memoryName, Addr: address(p.addr()), Err: err}
}

// carry starts the goroutines that forward a connection: what the client sends passes one
// toxic on its way to the node, and the replies pass the other. The end of one direction
// travels in the same way and then ends the other direction.
func (p *pipes) carry(c *pipe) {
	asked, answered := make(chan *stream.StreamChunk), make(chan *stream.StreamChunk)
	come := make(chan *stream.StreamChunk)
	p.forwarders.Go(func() { p.requests.Pipe(toxics.NewToxicStub(c.near.sent, asked)) })
	p.forwarders.Go(func() {
		c.ask(asked)
		p.ended(c)
	})
	p.forwarders.Go(func() { c.listen(come) })
	p.forwarders.Go(func() { p.replies.Pipe(toxics.NewToxicStub(come, answered)) })
	p.forwarders.Go(func() {
		for chunk := range answered {
			c.near.take(chunk.Data)
		}
		c.near.hangUp()
		p.ended(c)
	})
}

// ended says that one direction of a connection has ended: that of the other may still hold
// something back.
func (p *pipes) ended(c *pipe) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if c.ended++; c.ended == 2 {
		delete(p.open, c)
	}
}

// ask tells the node what comes to it, and that it is the end.
func (c *pipe) ask(asked <-chan *stream.StreamChunk) {
	for chunk := range asked {
		if err := c.far.Ask(chunk.Data, chunk.Timestamp); err != nil {
			drain(asked)
		}
	}
	_ = c.far.Close()
}

// listen sends on what the node says, and that it is the end.
func (c *pipe) listen(said chan<- *stream.StreamChunk) {
	defer close(said)
	for piece := make([]byte, pieceSize); ; {
		n, err := c.far.Read(piece)
		if n > 0 {
			said <- &stream.StreamChunk{Data: slices.Clone(piece[:n])}
		}
		if err != nil {
			return
		}
	}
}

// pieceSize is enough for what a node says to a lock at once, in bytes.
const pieceSize = 4096

// stop implements path. It returns when nothing carries any more.
func (p *pipes) stop() {
	p.mu.Lock()
	p.stopped = true
	for c := range p.open {
		_ = c.near.Close()
		_ = c.far.Close()
	}
	p.mu.Unlock()
	p.forwarders.Wait()
}

// memoryName is what a network in memory is called.
const memoryName = "memory"

// address is that of one end of a connection in memory.
type address string

func (address) Network() string  { return memoryName }
func (a address) String() string { return string(a) }

// conn is a client's end of a connection in memory. A write never waits for anybody's
// time: what is on its way is in the toxic. No lock is held while somebody waits.
type conn struct {
	local, remote address

	sending sync.Mutex // the toxic reads at once what is sent
	sent    chan *stream.StreamChunk
	ended   bool // sent is closed

	mu      sync.Mutex
	arrived []byte
	over    bool // nothing more comes
	closed  bool
	reads   time.Time     // when a read gives up; zero: never
	writes  time.Time     // likewise
	changed chan struct{} // closed and replaced when any of this changes
}

func newConn(local, remote address) *conn {
	return &conn{local: local, remote: remote, sent: make(chan *stream.StreamChunk), changed: make(chan struct{})}
}

// change changes something that readers look at.
func (c *conn) change(how func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	how()
	close(c.changed)
	c.changed = make(chan struct{})
}

// take takes what has come.
func (c *conn) take(piece []byte) { c.change(func() { c.arrived = append(c.arrived, piece...) }) }

// hangUp says that nothing more comes, nor is anything taken any more.
func (c *conn) hangUp() {
	c.change(func() { c.over = true })
	c.finish()
}

// finish ends what is sent.
func (c *conn) finish() {
	c.sending.Lock()
	defer c.sending.Unlock()
	if !c.ended {
		c.ended = true
		close(c.sent)
	}
}

// Read implements [net.Conn].
func (c *conn) Read(p []byte) (int, error) {
	for {
		n, limit, changed, err := c.look(p, true)
		if n > 0 || err != nil || len(p) == 0 {
			return n, c.failed("read", err)
		}
		await(limit, changed)
	}
}

// ReadArrived reads what has come, whatever the deadline is, and does not wait: 0 bytes, if
// there is nothing.
func (c *conn) ReadArrived(p []byte) (int, error) {
	n, _, _, err := c.look(p, false)
	return n, c.failed("read", err)
}

// look reads what is there, in time or however late it is. If nothing is, and there is no
// reason to give up, it returns until when to wait, and for what.
func (c *conn) look(p []byte, inTime bool) (n int, limit time.Time, changed <-chan struct{}, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.closed:
		err = net.ErrClosed
	case inTime && late(c.reads):
		err = os.ErrDeadlineExceeded
	case len(c.arrived) > 0:
		n = copy(p, c.arrived)
		c.arrived = slices.Delete(c.arrived, 0, n)
	case c.over:
		err = io.EOF
	}
	return n, c.reads, c.changed, err
}

// late reports whether a limit has passed.
func late(limit time.Time) bool { return !limit.IsZero() && !time.Now().Before(limit) }

// await waits for a change, at most to a limit.
func await(limit time.Time, changed <-chan struct{}) {
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
func (c *conn) Write(p []byte) (int, error) {
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

func (c *conn) mayWrite() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.closed:
		return net.ErrClosed
	case late(c.writes):
		return os.ErrDeadlineExceeded
	}
	return nil
}

// failed is an error as those of sockets are; the end of what comes is none.
func (c *conn) failed(op string, err error) error {
	if err == nil || err == io.EOF { //nolint:errorlint // it is our own, as it is
		return err
	}
	return &net.OpError{Op: op, Net: memoryName, Source: c.local, Addr: c.remote, Err: err}
}

// Close implements [net.Conn]. What was written goes its way.
func (c *conn) Close() error {
	c.change(func() { c.closed = true })
	c.finish()
	return nil
}

// LocalAddr implements [net.Conn].
func (c *conn) LocalAddr() net.Addr { return c.local }

// RemoteAddr implements [net.Conn].
func (c *conn) RemoteAddr() net.Addr { return c.remote }

// SetDeadline implements [net.Conn].
func (c *conn) SetDeadline(t time.Time) error {
	c.change(func() { c.reads, c.writes = t, t })
	return nil
}

// SetReadDeadline implements [net.Conn].
func (c *conn) SetReadDeadline(t time.Time) error {
	c.change(func() { c.reads = t })
	return nil
}

// SetWriteDeadline implements [net.Conn].
func (c *conn) SetWriteDeadline(t time.Time) error {
	c.change(func() { c.writes = t })
	return nil
}
