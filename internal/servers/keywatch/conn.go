package keywatch

import (
	"context"
	"io"
	"net"
	"time"

	"github.com/lockstorm/lockstorm/internal/servers/resp"
)

// conn is a connection to a server. It is not one of go-redis, because a replica's connection
// changes into a stream of commands. Only one goroutine at a time may use it.
type conn struct {
	net.Conn
	in resp.Reader
}

func dial(ctx context.Context, addr string) (*conn, error) {
	c, err := new(net.Dialer).DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	return &conn{c, resp.NewReader(c)}, nil
}

// ask sends a command and returns the reply. The end of ctx breaks the connection.
func (c *conn) ask(ctx context.Context, words ...string) (any, error) {
	defer context.AfterFunc(ctx, func() { _ = c.SetDeadline(time.Unix(1, 0)) })()
	if _, err := io.WriteString(c, resp.Encode(words...)); err != nil {
		return nil, err
	}
	reply, err := c.in.Next()
	if no, is := reply.(resp.Error); is {
		return nil, no
	}
	return reply, err
}
