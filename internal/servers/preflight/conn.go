package preflight

import (
	"context"
	"errors"
	"io"
	"net"
	"time"

	"github.com/lockstorm/lockstorm/internal/servers/resp"
	"github.com/lockstorm/lockstorm/redlock/redisnode"
)

// Conn is a connection to a Redis server. Only one goroutine at a time may use it.
//
// It is not a connection of go-redis, because go-redis reports neither what a server sent
// instead of a reply nor that it has connected again.
type Conn struct {
	Server Server

	conn         net.Conn
	read         resp.Reader
	noClientCert bool // no client certificate was offered
	greeted      bool // the server has answered HELLO
}

func newConn(conn net.Conn) *Conn { return &Conn{conn: conn, read: resp.NewReader(conn)} }

// Close closes the connection.
func (c *Conn) Close() error { return c.conn.Close() }

// Raw returns the connection itself, for a protocol that is no longer one of commands and replies.
// Nobody may call Ask any more.
func (c *Conn) Raw() net.Conn { return c.conn }

// Ask sends a command and returns the reply: a string, an int64, a []any of those, or nil.
// After an error reply of the server the connection can still be used; after any other
// error it is closed. ctx ends the wait and closes the connection.
func (c *Conn) Ask(ctx context.Context, words ...string) (any, error) {
	reply, err := c.exchange(ctx, words)
	if err != nil && !errors.As(err, new(resp.Error)) {
		_ = c.conn.Close() // a late reply would be taken for the reply to the next command
	}
	return reply, err
}

func (c *Conn) exchange(ctx context.Context, words []string) (any, error) {
	if err := c.conn.SetDeadline(time.Time{}); err != nil {
		return nil, err
	}
	defer context.AfterFunc(ctx, func() { _ = c.conn.SetDeadline(time.Unix(1, 0)) })()
	if _, err := io.WriteString(c.conn, resp.Encode(words...)); err != nil {
		if reply, readErr := c.readReply(); readErr == nil || errors.As(readErr, new(*resp.UnexpectedError)) {
			return reply, readErr // the server replied before it closed the connection
		}
		return nil, err
	}
	return c.readReply()
}

// readReply reads a reply. An error that the server replies is a [resp.Error].
func (c *Conn) readReply() (any, error) {
	reply, err := c.read.Next()
	if no, is := reply.(resp.Error); is {
		return nil, no
	}
	return reply, err
}

// Connect connects to the server at an address and sends HELLO, as Open does, and nothing
// else. The user needs no rights.
func Connect(ctx context.Context, addr string, o redisnode.Options) (*Conn, error) {
	connecting, cancel := withCheckTimeout(ctx)
	defer cancel()
	c, err := connect(connecting, addr, o)
	if err != nil && ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return c, err
}

// Ping sends PING and waits for the reply. An error reply is an [UnfitError].
func (c *Conn) Ping(ctx context.Context, o redisnode.Options) error {
	return c.require(ctx, o, "PING")
}
