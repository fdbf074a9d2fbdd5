package preflight

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/lockstorm/lockstorm/redlock/redisnode"
)

// Conn is a connection to a Redis server. Only one goroutine at a time may use it.
//
// It is not a connection of go-redis, because go-redis reports neither what a server sent
// instead of a reply nor that it has connected again.
type Conn struct {
	Server Server

	conn         net.Conn
	read         *bufio.Reader
	noClientCert bool // no client certificate was offered
	greeted      bool // the server has answered HELLO
}

// errorReply is an error that the server replied, in its own words.
type errorReply string

func (r errorReply) Error() string { return string(r) }

// code returns the first word of the error.
func (r errorReply) code() string {
	code, _, _ := strings.Cut(string(r), " ")
	return code
}

// unexpectedReply is a reply that Redis would not send.
type unexpectedReply struct{ text string }

func (e *unexpectedReply) Error() string { return fmt.Sprintf("unexpected reply %q", e.text) }

// maxQuoted is how many bytes of an unexpected reply are quoted.
const maxQuoted = 40

func newConn(conn net.Conn) *Conn { return &Conn{conn: conn, read: bufio.NewReader(conn)} }

// Close closes the connection.
func (c *Conn) Close() error { return c.conn.Close() }

// Ask sends a command and returns the reply: a string, an int64, a []any of those, or nil.
// After an error reply of the server the connection can still be used; after any other
// error it is closed. ctx ends the wait and closes the connection.
func (c *Conn) Ask(ctx context.Context, words ...string) (any, error) {
	reply, err := c.exchange(ctx, words)
	if err != nil && !errors.As(err, new(errorReply)) {
		_ = c.conn.Close() // a late reply would be taken for the reply to the next command
	}
	return reply, err
}

func (c *Conn) exchange(ctx context.Context, words []string) (any, error) {
	if err := c.conn.SetDeadline(time.Time{}); err != nil {
		return nil, err
	}
	defer context.AfterFunc(ctx, func() { _ = c.conn.SetDeadline(time.Unix(1, 0)) })()
	if _, err := io.WriteString(c.conn, encodeCommand(words)); err != nil {
		if reply, readErr := c.readReply(maxDepth); readErr == nil || errors.As(readErr, new(*unexpectedReply)) {
			return reply, readErr // the server replied before it closed the connection
		}
		return nil, err
	}
	return c.readReply(maxDepth)
}

// encodeCommand returns a command in Redis's protocol.
func encodeCommand(words []string) string {
	var text strings.Builder
	fmt.Fprintf(&text, "*%d\r\n", len(words))
	for _, w := range words {
		fmt.Fprintf(&text, "$%d\r\n%s\r\n", len(w), w)
	}
	return text.String()
}

// maxReply is the longest reply accepted, in bytes. INFO has some thousands, a page of keys
// some tens of thousands.
const maxReply = 1 << 24

// maxDepth is how deep arrays may be nested in a reply.
const maxDepth = 8

// readReply reads a reply in RESP2. depth is how many levels of arrays it may have.
func (c *Conn) readReply(depth int) (any, error) {
	mark, err := c.read.Peek(1)
	if err != nil {
		return nil, err
	}
	if !strings.ContainsRune("+-:$*", rune(mark[0])) {
		return nil, c.unexpected()
	}
	line, err := c.read.ReadString('\n')
	if err != nil {
		return nil, err
	}
	text := strings.TrimRight(line[1:], "\r\n")
	switch line[0] {
	case '+':
		return text, nil
	case '-':
		return nil, errorReply(text)
	}
	n, err := strconv.ParseInt(text, 10, 64)
	switch {
	case err != nil || depth == 0 || n > maxReply && line[0] != ':':
		return nil, &unexpectedReply{firstLine(line)}
	case line[0] == ':':
		return n, nil
	case n < 0:
		return nil, nil
	case line[0] == '$':
		return c.readBulk(n)
	}
	return c.readArray(n, depth-1)
}

func (c *Conn) readBulk(n int64) (any, error) {
	text := make([]byte, n+2)
	if _, err := io.ReadFull(c.read, text); err != nil {
		return nil, err
	}
	return string(text[:n]), nil
}

func (c *Conn) readArray(n int64, depth int) (any, error) {
	all := []any{}
	for range n {
		one, err := c.readReply(depth)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, nil
}

// unexpected quotes what has been received.
func (c *Conn) unexpected() error {
	reply, _ := c.read.Peek(c.read.Buffered())
	return &unexpectedReply{firstLine(string(reply))}
}

func firstLine(reply string) string {
	reply, _, _ = strings.Cut(reply, "\n")
	reply = strings.TrimRight(reply, "\r")
	return reply[:min(len(reply), maxQuoted)]
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
