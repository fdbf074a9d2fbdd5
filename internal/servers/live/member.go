package live

import (
	"context"
	"errors"
	"sync"
)

// Member is a client's connection to one member of a store at a time. When a request fails the
// client leaves the member: it closes the connection, on which others may be waiting behind a lost
// message, and goes on to the next one. It is safe for concurrent use.
type Member[C comparable] struct {
	addrs   []string
	connect func(addr string) (C, error)
	end     func(C)

	mu      sync.Mutex
	current int // the member, from 0
	conn    C   // its zero value: not connected
	closed  bool
}

// NewMember returns a connection to the first of the addresses, which connect makes when it is
// needed, and end closes.
func NewMember[C comparable](addrs []string, connect func(addr string) (C, error), end func(C)) *Member[C] {
	return &Member[C]{addrs: addrs, connect: connect, end: end}
}

// errClosed is the error of a request after Close.
var errClosed = errors.New("the client is closed")

// Conn returns the connection to the current member.
func (m *Member[C]) Conn() (C, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var none C
	switch {
	case m.closed:
		return none, errClosed
	case m.conn != none:
		return m.conn, nil
	}
	conn, err := m.connect(m.addrs[m.current])
	if err == nil {
		m.conn = conn
	}
	return conn, err
}

// Leave closes a connection and goes on to the next member, unless the client has left it already.
func (m *Member[C]) Leave(conn C) {
	var none C
	m.mu.Lock()
	mine := m.conn == conn
	if mine {
		m.conn, m.current = none, (m.current+1)%len(m.addrs)
	}
	m.mu.Unlock()
	if mine {
		m.end(conn)
	}
}

// Canceled reports whether a request ended because its caller no longer wants it, and not because its
// time is over. That says nothing of the member: the client stays there, as the simulated one does.
func Canceled(ctx context.Context) bool { return errors.Is(ctx.Err(), context.Canceled) }

// Close closes the connection for good.
func (m *Member[C]) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	var none C
	m.closed = true
	if m.conn != none {
		m.end(m.conn)
	}
	return nil
}
