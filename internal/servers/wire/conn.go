package wire

import (
	"io"
	"net"
	"os"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/Shopify/toxiproxy/v2/stream"
)

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
