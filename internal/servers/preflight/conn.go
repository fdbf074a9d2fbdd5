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

// Conn is a connection to a server that has been found to be Redis. It is used by one
// goroutine at a time.
//
// It is not one of go-redis, which tells neither what came instead of an answer nor that
// a connection is another one than before.
type Conn struct {
	Server Server

	conn    net.Conn
	read    *bufio.Reader
	unshown bool // we have shown no certificate
	met     bool // it has greeted us
}

// refusal is an answer that is an error, in the server's words.
type refusal string

func (r refusal) Error() string { return string(r) }

// code is its first word.
func (r refusal) code() string {
	code, _, _ := strings.Cut(string(r), " ")
	return code
}

// strangeError is an answer that Redis would not give.
type strangeError struct{ said string }

func (e *strangeError) Error() string { return fmt.Sprintf("it says %q", e.said) }

// mostStrange is how much of a strange answer is quoted, in bytes.
const mostStrange = 40

func newConn(conn net.Conn) *Conn { return &Conn{conn: conn, read: bufio.NewReader(conn)} }

// Close ends the connection.
func (c *Conn) Close() error { return c.conn.Close() }

// Ask sends a command and returns the answer: a string, an int64, a []any of such, or
// nil. An error that the server answers leaves the connection usable; after another one
// it is not. ctx ends the wait, and with it the connection.
func (c *Conn) Ask(ctx context.Context, words ...string) (any, error) {
	said, err := c.exchange(ctx, words)
	if err != nil && !errors.As(err, new(refusal)) {
		_ = c.conn.Close() // or an answer that is late would be taken for that of the next command
	}
	return said, err
}

func (c *Conn) exchange(ctx context.Context, words []string) (any, error) {
	if err := c.conn.SetDeadline(time.Time{}); err != nil {
		return nil, err
	}
	defer context.AfterFunc(ctx, func() { _ = c.conn.SetDeadline(time.Unix(1, 0)) })()
	if _, err := io.WriteString(c.conn, spoken(words)); err != nil {
		if said, mute := c.answer(deepest); mute == nil || errors.As(mute, new(*strangeError)) {
			return said, mute // it had said something before it hung up
		}
		return nil, err
	}
	return c.answer(deepest)
}

// spoken is a command as Redis' protocol has it.
func spoken(words []string) string {
	var text strings.Builder
	fmt.Fprintf(&text, "*%d\r\n", len(words))
	for _, w := range words {
		fmt.Fprintf(&text, "$%d\r\n%s\r\n", len(w), w)
	}
	return text.String()
}

// mostBytes is the longest answer that is read: INFO has some thousands of bytes, a page
// of keys some tens of thousands.
const mostBytes = 1 << 24

// deepest is how deep answers may lie in answers.
const deepest = 8

// answer reads an answer of the second version of the protocol.
func (c *Conn) answer(deepest int) (any, error) {
	mark, err := c.read.Peek(1)
	if err != nil {
		return nil, err
	}
	if !strings.ContainsRune("+-:$*", rune(mark[0])) {
		return nil, c.strange()
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
		return nil, refusal(text)
	}
	n, err := strconv.ParseInt(text, 10, 64)
	switch {
	case err != nil || deepest == 0 || n > mostBytes && line[0] != ':':
		return nil, &strangeError{shortened(line)}
	case line[0] == ':':
		return n, nil
	case n < 0:
		return nil, nil
	case line[0] == '$':
		return c.bulk(n)
	}
	return c.array(n, deepest-1)
}

func (c *Conn) bulk(n int64) (any, error) {
	text := make([]byte, n+2)
	if _, err := io.ReadFull(c.read, text); err != nil {
		return nil, err
	}
	return string(text[:n]), nil
}

func (c *Conn) array(n int64, deepest int) (any, error) {
	all := []any{}
	for range n {
		one, err := c.answer(deepest)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, nil
}

// strange quotes what has come so far.
func (c *Conn) strange() error {
	said, _ := c.read.Peek(c.read.Buffered())
	return &strangeError{shortened(string(said))}
}

func shortened(said string) string {
	said, _, _ = strings.Cut(said, "\n")
	said = strings.TrimRight(said, "\r")
	return said[:min(len(said), mostStrange)]
}

// Connect connects to the server at an address and greets it, as Open does, and asks nothing
// else: nothing is written, and no right is needed but to say hello.
func Connect(ctx context.Context, addr string, o redisnode.Options) (*Conn, error) {
	bounded, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("%v are over", patience))
	defer cancel()
	c, err := meet(bounded, addr, o)
	if err != nil && ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return c, err
}

// Ping has the server answer, and nothing else. A refusal is an [UnfitError].
func (c *Conn) Ping(ctx context.Context, o redisnode.Options) error {
	return c.demand(ctx, o, "PING")
}
