package redisnode

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"syscall"
	"time"
)

// Go-redis says HELLO when a connection is used for the first time, as a part of the
// request that uses it, and closes the connection when the request is given up
// meanwhile. Where many are, as after a partition, each then makes a connection and
// throws it away unused, and the work of making them is what keeps the next ones from
// getting ready in time: nobody hears from any node again. So a connection is greeted
// while it is dialled, which outlives the request: one that comes too late for its
// request is kept for another.

// greeter says HELLO on a new connection.
type greeter struct{ hello []byte }

func newGreeter(o Options) greeter {
	words := []string{"HELLO", "2"}
	if o.Password != "" {
		user := o.Username
		if user == "" {
			user = "default"
		}
		words = append(words, "AUTH", user, o.Password)
	}
	return greeter{encode(words)}
}

// encode writes a command in Redis' protocol.
func encode(words []string) []byte {
	b := fmt.Appendf(nil, "*%d\r\n", len(words))
	for _, w := range words {
		b = fmt.Appendf(b, "$%d\r\n%s\r\n", len(w), w)
	}
	return b
}

// greet returns the connection as soon as the node has answered HELLO on it, whatever
// it says. It closes one on which there is no answer.
func (g greeter) greet(ctx context.Context, conn net.Conn) (net.Conn, error) {
	answer, err := g.exchange(ctx, conn)
	if err != nil {
		_ = conn.Close() // the error that counts is the other
		return nil, fmt.Errorf("no answer to HELLO: %w", err)
	}
	c := &greeted{Conn: conn, hello: g.hello, answer: answer}
	if s, ok := conn.(syscall.Conn); ok { // by which go-redis looks whether the connection is alive
		return struct {
			*greeted
			syscall.Conn
		}{c, s}, nil
	}
	return c, nil
}

func (g greeter) exchange(ctx context.Context, conn net.Conn) (answer []byte, err error) {
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	read := bufio.NewReader(conn)
	if _, err = conn.Write(g.hello); err == nil {
		answer, err = readReply(read, nil)
	}
	switch {
	case !stop(): // also with an answer: the deadline may still be set, on a request of somebody else
		return nil, context.Cause(ctx)
	case err == nil && read.Buffered() > 0: // the next request would take it for its answer
		err = errors.New("something comes behind it, unasked")
	}
	return answer, errors.Join(err, conn.SetDeadline(time.Time{}))
}

// readReply appends one whole reply in Redis' second protocol, as it came.
func readReply(r *bufio.Reader, reply []byte) ([]byte, error) {
	line, err := r.ReadBytes('\n')
	if err != nil {
		return nil, err
	}
	reply = append(reply, line...)
	kind, rest := line[0], bytes.TrimRight(line[1:], "\r\n")
	switch kind {
	case '+', '-', ':':
		return reply, nil
	case '$', '*':
		n, err := strconv.Atoi(string(rest))
		if err != nil || n > bufferSize {
			break
		}
		if kind == '$' {
			return readText(r, reply, n)
		}
		for ; n > 0 && err == nil; n-- {
			reply, err = readReply(r, reply)
		}
		return reply, err
	}
	return nil, fmt.Errorf("%q is no reply of Redis", line)
}

// readText appends n bytes and the end of their line; a text that is null, with -1
// bytes, has none.
func readText(r *bufio.Reader, reply []byte, n int) ([]byte, error) {
	if n < 0 {
		return reply, nil
	}
	text := make([]byte, n+len("\r\n"))
	_, err := io.ReadFull(r, text)
	return append(reply, text...), err
}

// greeted is a connection on which HELLO has been answered. When go-redis says it, it is
// told the answer, without asking the node again. What go-redis says first and is not
// that HELLO, to the byte, goes to the node, which can be greeted twice.
type greeted struct {
	net.Conn
	hello  []byte // that has been said
	answer []byte
	said   bool // go-redis has said something
	due    bool // it is owed the answer
}

func (c *greeted) Write(p []byte) (int, error) {
	if c.said {
		return c.Conn.Write(p)
	}
	c.said = true
	own := len(c.hello)
	if len(p) < own || !bytes.EqualFold(p[:own], c.hello) { // commands are the same in any case
		return c.Conn.Write(p)
	}
	c.due = true
	if len(p) == own {
		return own, nil
	}
	n, err := c.Conn.Write(p[own:]) // whose answers follow on that
	return own + n, err
}

func (c *greeted) Read(p []byte) (int, error) {
	if c.due {
		n := copy(p, c.answer)
		c.answer = c.answer[n:]
		c.due = len(c.answer) > 0
		return n, nil
	}
	return c.Conn.Read(p)
}
