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

// dialer makes the connections of one node. It never returns an error: where a dial fails it
// returns a [failedConn], whose first write fails with the reason. The pool of go-redis counts
// failed dials. After as many failures as it has places it stops dialling for up to a second,
// and a node that is back would still look down.
type dialer struct {
	dial  func(ctx context.Context, network, addr string) (net.Conn, error)
	life  context.Context // ends when the nodes are closed
	dials *drainGroup
	handshaker
}

func newDialer(o Options, config *tls.Config, h handshaker, life context.Context, dials *drainGroup) *dialer {
	d := &dialer{dial: o.Dial, life: life, dials: dials, handshaker: h}
	switch {
	case config != nil:
		d.dial = (&tls.Dialer{Config: config}).DialContext
	case o.Dial == nil:
		d.dial = new(net.Dialer).DialContext
	}
	return d
}

// open is the Dialer of go-redis. ctx carries the dial timeout and outlives the request for
// which the pool dials.
func (d *dialer) open(ctx context.Context, network, addr string) (net.Conn, error) {
	if !d.dials.add(1) {
		return failedConn{&dialError{redis.ErrClosed}}, nil
	}
	defer d.dials.done()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(d.life, cancel)()

	conn, err := d.dial(ctx, network, addr)
	if err == nil {
		conn, err = d.connect(ctx, conn)
	}
	if err != nil {
		return failedConn{&dialError{err}}, nil
	}
	return conn, nil
}

// dialError says that a request was never sent because there was no connection. It has no
// Unwrap method: go-redis unwraps the errors of a handshake once, and would lose this type.
type dialError struct{ reason error }

func (e *dialError) Error() string { return e.reason.Error() }

// isDialError reports whether a request failed because there was no connection.
func isDialError(err error) bool {
	if err == nil {
		return false
	}
	var unsent *dialError
	return errors.As(err, &unsent)
}

// refused reports whether a connection was refused, as opposed to timed out.
func refused(err error) bool {
	var unsent *dialError
	if !errors.As(err, &unsent) {
		return false
	}
	var slow net.Error
	return !errors.Is(unsent.reason, context.DeadlineExceeded) && !(errors.As(unsent.reason, &slow) && slow.Timeout())
}

// failedConn stands for a connection that could not be made.
type failedConn struct{ reason error }

func (c failedConn) Read([]byte) (int, error)  { return 0, c.reason }
func (c failedConn) Write([]byte) (int, error) { return 0, c.reason }

func (failedConn) Close() error                     { return nil }
func (failedConn) LocalAddr() net.Addr              { return &net.TCPAddr{} }
func (failedConn) RemoteAddr() net.Addr             { return &net.TCPAddr{} }
func (failedConn) SetDeadline(time.Time) error      { return nil }
func (failedConn) SetReadDeadline(time.Time) error  { return nil }
func (failedConn) SetWriteDeadline(time.Time) error { return nil }

// SyscallConn fails: the pool checks an idle connection with it before it reuses one, and so
// discards this one.
func (c failedConn) SyscallConn() (syscall.RawConn, error) {
	return nil, errors.New("no connection: " + c.reason.Error())
}
