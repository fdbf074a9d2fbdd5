package nats

import (
	"context"
	"errors"
	"net"
	"time"

	natsgo "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// conn is a connection to one member. It is made in the background and never made again.
type conn struct {
	ctx    context.Context // ends with the connection
	cancel context.CancelCauseFunc
	ready  chan struct{} // closed when the connection is made, or has failed

	// Valid when ready is closed.
	nc  *natsgo.Conn
	js  jetstream.JetStream
	err error
}

// connectTimeout bounds how long it may take to connect to a member that answers.
const connectTimeout = 30 * time.Second

// errLeft is the cause of the end of a connection that the client has closed.
var errLeft = errors.New("the client has left the member")

// connect begins to connect to a member. The connection has to be closed.
func connect(dial func(ctx context.Context, addr string) (net.Conn, error), addr string) *conn {
	ctx, cancel := context.WithCancelCause(context.Background())
	c := &conn{ctx: ctx, cancel: cancel, ready: make(chan struct{})}
	go func() {
		defer close(c.ready)
		c.nc, c.err = natsgo.Connect("nats://"+addr,
			natsgo.SetCustomDialer(dialer(func() (net.Conn, error) { return c.dial(dial, addr) })),
			natsgo.NoReconnect(), natsgo.IgnoreDiscoveredServers(), natsgo.Timeout(connectTimeout),
			natsgo.ErrorHandler(func(*natsgo.Conn, *natsgo.Subscription, error) {})) // instead of printing
		if c.err == nil {
			c.js, c.err = jetstream.New(c.nc)
		}
	}()
	return c
}

// dial connects to a member. The network connection is closed with ours even if the library
// is blocked in it.
func (c *conn) dial(dial func(ctx context.Context, addr string) (net.Conn, error), addr string) (net.Conn, error) {
	network, err := dial(c.ctx, addr)
	if err == nil {
		context.AfterFunc(c.ctx, func() { _ = network.Close() })
	}
	return network, err
}

// dialer is the library's CustomDialer. It ignores the address, which is that of the one member.
type dialer func() (net.Conn, error)

func (d dialer) Dial(string, string) (net.Conn, error) { return d() }

// await waits until the connection is made.
func (c *conn) await(ctx context.Context) error {
	select {
	case <-c.ready:
		return c.err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// close closes the connection, and the library's part of it in the background.
func (c *conn) close() {
	c.cancel(errLeft)
	go func() {
		<-c.ready
		if c.nc != nil {
			c.nc.Close()
		}
	}()
}
