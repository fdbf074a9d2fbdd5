package wire

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"sync"
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
