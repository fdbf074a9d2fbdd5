package redisserver

import (
	"context"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// Operator runs commands on the server at an address (host:port) of this machine, as
// somebody who operates it would: over its own connections, past any proxy. It refuses
// addresses of other machines.
type Operator string

// Do sends a command and returns the reply as go-redis decodes it.
func (o Operator) Do(ctx context.Context, command ...string) (reply any, err error) {
	client := NewClient(string(o))
	defer func() { _ = client.Close() }()
	words := make([]any, len(command))
	for i, w := range command {
		words[i] = w
	}
	reply, err = client.Do(ctx, words...).Result()
	if err != nil {
		return nil, fmt.Errorf("%s to redis-server on %s: %w", strings.Join(command, " "), string(o), err)
	}
	return reply, nil
}

// Time returns the server's wall clock.
func (o Operator) Time(ctx context.Context) (time.Time, error) {
	client := NewClient(string(o))
	defer func() { _ = client.Close() }()
	return client.Time(ctx).Result()
}

// Info returns the fields of the server's INFO.
func (o Operator) Info(ctx context.Context) (map[string]string, error) {
	reply, err := o.Do(ctx, "INFO")
	if err != nil {
		return nil, err
	}
	fields := map[string]string{}
	for line := range strings.Lines(fmt.Sprint(reply)) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			fields[name] = value
		}
	}
	return fields, nil
}

// NewClient returns a client that sends each command once and waits until the context ends.
// It is a function instead of a method because packages that use Operator would otherwise
// compile parts of go-redis again, which takes seconds.
func NewClient(addr string) *redis.Client {
	return redis.NewClient(&redis.Options{
		Addr: addr, Protocol: 2, PoolSize: 1, MaxRetries: -1, DialerRetries: 1,
		ContextTimeoutEnabled: true, ReadTimeout: -1, WriteTimeout: -1, DisableIdentity: true,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
		Dialer:                   Dialer.DialContext,
	})
}

// Answers reports whether the server answers PING. It does not while it loads its file.
func (o Operator) Answers(ctx context.Context) bool {
	conn, err := Dialer.DialContext(ctx, "tcp", string(o))
	if err != nil {
		return false
	}
	defer func() { _ = conn.Close() }()
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	return AnswersPing(conn)
}

// AnswersPing reports whether the other end of a connection answers PING, or asks for a
// password. It does neither while it loads its file.
func AnswersPing(conn net.Conn) bool {
	reply := make([]byte, len(pingReplies[0]))
	_, _ = io.WriteString(conn, "PING\r\n")
	_, _ = io.ReadFull(conn, reply)
	return slices.Contains(pingReplies, string(reply))
}

// pingReplies are the first bytes of the accepted replies.
var pingReplies = []string{"+PONG", "-NOAU"}

// CheckLoopback returns an error unless host, an address without a port, is a loopback
// address.
func CheckLoopback(host string) error {
	if ip := net.ParseIP(host); host == "localhost" || ip != nil && ip.IsLoopback() {
		return nil
	}
	return fmt.Errorf("%s is not a loopback address: servers are reached on this machine only", host)
}

// Dialer refuses connections to other machines, even if a name resolves to one.
var Dialer = &net.Dialer{Control: func(_, addr string, _ syscall.RawConn) error {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return err
	}
	return CheckLoopback(host)
}}
