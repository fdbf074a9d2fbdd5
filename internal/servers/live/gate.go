package live

import (
	"context"
	"errors"
	"net"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// gate blocks the goroutines of a client while the client is paused or dead. They pass it
// whenever they enter or leave a call of a port. After the run it ends them.
type gate struct {
	over context.Context // ends with the run
	life context.Context // ends with the client
	die  context.CancelFunc

	shut atomic.Bool // paused or dead

	mu     sync.Mutex
	paused bool
	dead   bool
	moved  chan struct{} // closed and replaced with every change
}

func newGate(over context.Context) *gate {
	g := &gate{over: over, moved: make(chan struct{})}
	g.life, g.die = context.WithCancel(over)
	return g
}

// pass waits while the client is paused or dead, and reports whether it had to wait. After
// the run it ends the goroutine.
func (g *gate) pass() (waited bool) {
	waited, over := g.await()
	if over {
		runtime.Goexit()
	}
	return waited
}

// await is pass for goroutines that it must not end: it reports that the run is over.
func (g *gate) await() (waited, over bool) {
	for {
		if g.over.Err() != nil {
			return waited, true
		}
		if !g.shut.Load() {
			return waited, false
		}
		g.mu.Lock()
		shut, moved := g.paused || g.dead, g.moved
		g.mu.Unlock()
		if !shut {
			return waited, false
		}
		waited = true
		select {
		case <-moved:
		case <-g.over.Done():
		}
	}
}

func (g *gate) pause()  { g.move(func() { g.paused = true }) }
func (g *gate) resume() { g.move(func() { g.paused = false }) }

// kill stops the client for good and closes its connections, as the kernel does.
func (g *gate) kill() {
	g.move(func() { g.dead = true })
	g.die()
}

func (g *gate) move(how func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	how()
	g.shut.Store(g.paused || g.dead)
	close(g.moved)
	g.moved = make(chan struct{})
}

// dialGated makes a connection with dial that stands still while its client is paused, and
// is closed with the client or the run.
func dialGated(ctx context.Context, g *gate, dial func(context.Context) (net.Conn, error)) (net.Conn, error) {
	if _, over := g.await(); over {
		return nil, net.ErrClosed
	}
	plain, err := dial(ctx)
	if err != nil {
		return nil, err
	}
	conn := &gatedConn{Conn: plain, gate: g}
	conn.withLife = context.AfterFunc(g.life, func() { _ = plain.Close() })
	return conn, nil
}

// gatedConn is a connection of a client that can be paused. It pauses goroutines of the
// lock that this package did not start.
type gatedConn struct {
	net.Conn
	gate     *gate
	withLife func() bool  // cancels closing it with the client
	deadline atomic.Int64 // of reads, in nanoseconds since 1970; 0: none
}

// Read implements [net.Conn]. A reply that arrived while the client was paused is read
// before the client sees that its deadline has passed. A real one mostly does the same.
func (c *gatedConn) Read(p []byte) (int, error) {
	stood, over := c.gate.await()
	if over {
		return 0, net.ErrClosed
	}
	n, err := c.Conn.Read(p)
	waited, over := c.gate.await()
	switch {
	case over:
		return n, net.ErrClosed
	case (stood || waited) && n == 0 && errors.Is(err, os.ErrDeadlineExceeded):
		if n, late := c.readLate(p); n > 0 {
			return n, late
		}
	}
	return n, err
}

// readLate reads what has arrived, after the deadline.
func (c *gatedConn) readLate(p []byte) (int, error) {
	defer func() { _ = c.Conn.SetReadDeadline(c.savedDeadline()) }()
	return readArrived(c.Conn, p)
}

// Write implements [net.Conn].
func (c *gatedConn) Write(p []byte) (int, error) {
	if _, over := c.gate.await(); over {
		return 0, net.ErrClosed
	}
	n, err := c.Conn.Write(p)
	if _, over := c.gate.await(); over {
		return n, net.ErrClosed
	}
	return n, err
}

// SetDeadline implements [net.Conn].
func (c *gatedConn) SetDeadline(t time.Time) error {
	c.saveDeadline(t)
	return c.Conn.SetDeadline(t)
}

// SetReadDeadline implements [net.Conn].
func (c *gatedConn) SetReadDeadline(t time.Time) error {
	c.saveDeadline(t)
	return c.Conn.SetReadDeadline(t)
}

func (c *gatedConn) saveDeadline(t time.Time) {
	if t.IsZero() {
		c.deadline.Store(0)
		return
	}
	c.deadline.Store(t.UnixNano())
}

// savedDeadline returns the deadline of reads that the client has set last. It may have
// been removed since.
func (c *gatedConn) savedDeadline() time.Time {
	if at := c.deadline.Load(); at != 0 {
		return time.Unix(0, at)
	}
	return time.Time{}
}

// Close implements [net.Conn].
func (c *gatedConn) Close() error {
	c.withLife()
	return c.Conn.Close()
}
