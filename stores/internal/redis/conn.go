package redis

import (
	"context"
	"io"
	"net"
	"strings"

	"github.com/lockstorm/lockstorm/internal/servers/resp"
)

// conn is a connection to one member. One request uses it at a time, because WAIT blocks every
// command behind it.
type conn struct {
	net.Conn
	in     resp.Reader
	member int // the index of its address
}

// call sends commands at once and returns their replies, at the latest when ctx ends. After an
// error the connection is of no use. An error that the server replies is a [resp.Error] among the
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
		b.WriteString(resp.Encode(words...))
	}
	if _, err := io.WriteString(c, b.String()); err != nil {
		return nil, err
	}
	for range commands {
		reply, err := c.in.Next()
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
