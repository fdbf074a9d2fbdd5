package redisnode

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"syscall"
	"time"

	"github.com/redis/go-redis/v9"
)

// dialer makes the connections of one node. It never fails: where there is no
// connection it returns a [stillborn] one, on which the first write fails with
// the reason. The pool of go-redis counts failed dials, and after as many as it
// has places it stops dialling for up to a second, so that a node that is back
// would look like one that is still down.
type dialer struct {
	dial  func(ctx context.Context, network, addr string) (net.Conn, error)
	life  context.Context // ends when the nodes are closed
	dials *headcount
	handshaker
}

func newDialer(o Options, config *tls.Config, h handshaker, life context.Context, dials *headcount) *dialer {
	d := &dialer{dial: o.Dial, life: life, dials: dials, handshaker: h}
	switch {
	case config != nil:
		d.dial = (&tls.Dialer{Config: config}).DialContext
	case o.Dial == nil:
		d.dial = new(net.Dialer).DialContext
	}
	return d
}

// open is a dialer as go-redis wants it. ctx carries the dial timeout, and
// outlives the request for which the pool dials.
func (d *dialer) open(ctx context.Context, network, addr string) (net.Conn, error) {
	if !d.dials.join(1) {
		return stillborn{&dialError{redis.ErrClosed}}, nil
	}
	defer d.dials.leave()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(d.life, cancel)()

	conn, err := d.dial(ctx, network, addr)
	if err == nil {
		conn, err = d.connect(ctx, conn)
	}
	if err != nil {
		return stillborn{&dialError{err}}, nil
	}
	return conn, nil
}

// dialError says that a request was never sent, for want of a connection. It
// has no Unwrap method, because go-redis unwraps the errors of a handshake once
// and would lose it.
type dialError struct{ reason error }

func (e *dialError) Error() string { return e.reason.Error() }

// unconnected reports whether that is why a request has failed.
func unconnected(err error) bool {
	if err == nil {
		return false
	}
	var unsent *dialError
	return errors.As(err, &unsent)
}

// refused reports whether there is no connection because somebody said so, and not because
// nobody said anything in time.
func refused(err error) bool {
	var unsent *dialError
	if !errors.As(err, &unsent) {
		return false
	}
	var slow net.Error
	return !errors.Is(unsent.reason, context.DeadlineExceeded) && !(errors.As(unsent.reason, &slow) && slow.Timeout())
}

// stillborn is the connection that could not be made.
type stillborn struct{ reason error }

func (c stillborn) Read([]byte) (int, error)  { return 0, c.reason }
func (c stillborn) Write([]byte) (int, error) { return 0, c.reason }

func (stillborn) Close() error                     { return nil }
func (stillborn) LocalAddr() net.Addr              { return &net.TCPAddr{} }
func (stillborn) RemoteAddr() net.Addr             { return &net.TCPAddr{} }
func (stillborn) SetDeadline(time.Time) error      { return nil }
func (stillborn) SetReadDeadline(time.Time) error  { return nil }
func (stillborn) SetWriteDeadline(time.Time) error { return nil }

// SyscallConn fails, which is how the pool finds out, before it gives an idle
// connection to a later request, that this one is of no use.
func (c stillborn) SyscallConn() (syscall.RawConn, error) {
	return nil, errors.New("no connection: " + c.reason.Error())
}
