package redis

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
)

// conn is a connection to one member. One request uses it at a time, because WAIT blocks every
// command behind it.
type conn struct {
	net.Conn
	in     *bufio.Reader
	member int // the index of its address
}

// replyError is an error that the server has replied.
type replyError string

func (e replyError) Error() string { return string(e) }

// call sends commands at once and returns their replies, at the latest when ctx ends. After an
// error the connection is of no use. An error that the server replies is a [replyError] among the
// replies.
func (c *conn) call(ctx context.Context, commands ...[]string) (replies []any, err error) {
	defer func() {
		if err != nil && ctx.Err() != nil {
			err = context.Cause(ctx)
		}
	}()
	stop := context.AfterFunc(ctx, func() { _ = c.Close() })
	defer stop()
	var b strings.Builder
	for _, words := range commands {
		fmt.Fprintf(&b, "*%d\r\n", len(words))
		for _, w := range words {
			fmt.Fprintf(&b, "$%d\r\n%s\r\n", len(w), w)
		}
	}
	if _, err := io.WriteString(c, b.String()); err != nil {
		return nil, err
	}
	for range commands {
		reply, err := c.read()
		if err != nil {
			return nil, err
		}
		replies = append(replies, reply)
	}
	if !stop() {
		return nil, context.Cause(ctx)
	}
	return replies, nil
}

// read reads a reply of RESP2: a string, an int64, a replyError, a list, or nil.
func (c *conn) read() (any, error) {
	line, err := c.in.ReadString('\n')
	if err != nil {
		return nil, err
	}
	text, complete := strings.CutSuffix(line, "\r\n")
	if !complete || text == "" {
		return nil, fmt.Errorf("malformed reply %q", line)
	}
	kind, text := text[0], text[1:]
	switch kind {
	case '+':
		return text, nil
	case '-':
		return replyError(text), nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return nil, fmt.Errorf("malformed reply %q: %w", line, err)
	}
	switch {
	case kind == ':':
		return n, nil
	case n < 0:
		return nil, nil
	case kind == '$':
		data := make([]byte, n+int64(len("\r\n")))
		_, err := io.ReadFull(c.in, data)
		return string(data[:n]), err
	case kind == '*':
		list := []any{}
		for range n {
			item, err := c.read()
			if err != nil {
				return nil, err
			}
			list = append(list, item)
		}
		return list, nil
	}
	return nil, fmt.Errorf("malformed reply %q", line)
}
