package zookeeper

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/lockstorm/lockstorm/env"
)

// The reasons why a connection has ended for good.
var (
	errOver      = errors.New("the session is over")
	errAbandoned = errors.New("the connection was given up")
)

// conn is a session of ZooKeeper. The library connects it to one member at a time.
type conn struct {
	client  *client
	zk      *zk.Conn
	lasting bool          // it is worth moving to another member
	ttl     time.Duration // of a session that a request has opened

	ctx      context.Context // until it ends
	cancel   context.CancelFunc
	loop     chan struct{} // closed when the library has nothing more to do
	farewell atomic.Bool   // a member has confirmed the end of the session

	mu        sync.Mutex
	idle      *time.Timer // ends a session without heartbeats; nil: it has none
	end       error       // why it has ended; nil: it has not
	member    int         // that was tried last
	tries     int         // of members
	failures  int         // of them since the last that led to a session
	net       net.Conn    // the last one
	handshake *time.Timer
	serves    bool          // net has a session
	moved     chan struct{} // closed, and replaced, when something changes that await looks at
}

// connect makes a connection, and does not wait for it. The client's mu is held.
func (c *client) connect(timeout time.Duration, lasting bool) (*conn, error) {
	if c.closed {
		return nil, errAbandoned
	}
	s := &conn{client: c, lasting: lasting, member: int(c.current.Load()) - 1, loop: make(chan struct{}), moved: make(chan struct{})}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.mu.Lock() // the library must not call before it is in s.zk
	defer s.mu.Unlock()
	library, events, err := zk.Connect(c.addrs, max(timeout, minSession),
		zk.WithDialer(s.dial), zk.WithHostProvider(hosts{s}), zk.WithEventCallback(s.observe),
		zk.WithLogger(logger{s}), zk.WithLogInfo(true))
	if err != nil {
		s.cancel()
		return nil, err
	}
	s.zk = library
	go func() {
		for range events { // observe has seen them
		}
		close(s.loop)
	}()
	return s, nil
}

// hosts is the [zk.HostProvider] of a connection. It begins with the client's current member.
type hosts struct{ conn *conn }

func (h hosts) Init([]string) error { return nil }
func (h hosts) Len() int            { return len(h.conn.client.addrs) }
func (h hosts) Connected()          {}

// Next implements [zk.HostProvider]. With true the library looks whether it was closed, after
// it has waited for a second: it may do so only at the end.
func (h hosts) Next() (addr string, all bool) {
	c := h.conn
	c.mu.Lock()
	defer c.mu.Unlock()
	c.member = (c.member + 1) % len(c.client.addrs)
	c.tries++
	c.failures++
	c.changed()
	return c.client.addrs[c.member], c.end != nil
}

// The time for a handshake grows with each round of failures, so that it is long enough on
// any machine, and short while there may be a better member. Between tries of later rounds
// there is a pause.
const (
	handshakeTimeout = 400 * time.Millisecond
	retryPause       = 20 * time.Millisecond
)

// dial is the [zk.Dialer] of a connection. The library itself would wait for the handshake with a
// stopped member for several times as long as a session lasts.
func (c *conn) dial(_, addr string, _ time.Duration) (net.Conn, error) {
	c.mu.Lock()
	round := (c.failures - 1) / len(c.client.addrs)
	c.mu.Unlock()
	if round > 0 {
		select {
		case <-time.After(retryPause):
		case <-c.ctx.Done():
		}
	}
	limit := handshakeTimeout * time.Duration(1+round)
	ctx, cancel := context.WithTimeout(c.ctx, limit)
	defer cancel()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	made, err := c.client.dial(ctx, addr)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.end != nil {
		_ = made.Close()
		return nil, c.end
	}
	c.net, c.handshake = made, time.AfterFunc(limit, func() { _ = made.Close() })
	return made, nil
}

// observe is called by the library, one call at a time, when the state of the connection changes.
func (c *conn) observe(e zk.Event) {
	if e.Type != zk.EventSession {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch e.State {
	case zk.StateHasSession:
		c.handshake.Stop()
		c.serves, c.failures = true, 0
		c.client.current.Store(int64(c.member))
	case zk.StateDisconnected:
		if c.serves && !c.lasting {
			c.client.current.Store(int64(c.member+1) % int64(len(c.client.addrs)))
			c.endLocked(errAbandoned)
		}
		c.serves = false
	case zk.StateExpired: // the library would go on with another session
		c.endLocked(errOver)
	}
	c.changed()
}

// changed wakes those who await a change. The connection's mu is held.
func (c *conn) changed() {
	close(c.moved)
	c.moved = make(chan struct{})
}

// ended reports whether the connection has ended for good.
func (c *conn) ended() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.end != nil
}

// finish ends the connection for good without a word to the member.
func (c *conn) finish(why error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.endLocked(why)
}

func (c *conn) endLocked(why error) {
	if c.end != nil {
		return
	}
	c.end, c.serves = why, false
	c.cancel()
	if c.idle != nil {
		c.idle.Stop()
	}
	if c.net != nil {
		_ = c.net.Close()
	}
	go c.zk.Close() // it would tell the member, so the network connection is closed first
	c.changed()
}

// heartbeat lets the session go on for its TTL. A client that has given up a session sends no heartbeats any
// more, but the library would go on pinging and keep the session alive, and with it its entries.
func (c *conn) heartbeat() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.end != nil {
		return
	}
	if c.idle != nil {
		c.idle.Stop()
	}
	c.idle = time.AfterFunc(c.ttl, func() { c.finish(errOver) })
}

// await waits until the connection has a session, and returns the network connection. It is
// [env.ErrNoLeader] if no member can be had.
func (c *conn) await(ctx context.Context) (net.Conn, error) {
	for begin := -1; ; {
		c.mu.Lock()
		end, serves, over, tries, moved := c.end, c.serves, c.net, c.tries, c.moved
		c.mu.Unlock()
		if begin < 0 {
			begin = tries
		}
		switch {
		case end != nil:
			return nil, fmt.Errorf("%w: %w", env.ErrNoLeader, end)
		case serves:
			return over, nil
		case tries > begin+len(c.client.addrs):
			return nil, fmt.Errorf("%w: no member of %v serves", env.ErrNoLeader, c.client.addrs)
		}
		select {
		case <-moved:
		case <-ctx.Done():
			return nil, fmt.Errorf("%w: %w", env.ErrNoLeader, context.Cause(ctx))
		}
	}
}

// closeSession ends the session and with it its entries.
func (c *conn) closeSession(ctx context.Context) (env.StoreReply, error) {
	if _, err := c.await(ctx); err != nil {
		return env.StoreReply{}, err
	}
	go c.zk.Close()
	select {
	case <-c.loop:
	case <-ctx.Done():
	}
	if !c.farewell.Load() {
		c.finish(errAbandoned)
		return env.StoreReply{}, fmt.Errorf("the member has not confirmed the end of the session: %w", errAbandoned)
	}
	c.finish(errOver)
	return env.StoreReply{Done: true}, nil
}

// logger is the library's, whose messages nobody reads. But only by its log it lets its user know
// that a member has confirmed the end of a session: then its receiver ends with [io.EOF].
type logger struct{ conn *conn }

// Printf implements [zk.Logger].
func (l logger) Printf(_ string, args ...any) {
	if len(args) != 1 {
		return
	}
	if err, ok := args[0].(error); ok && errors.Is(err, io.EOF) {
		l.conn.farewell.Store(true)
	}
}
