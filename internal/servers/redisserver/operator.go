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

// Operator is that of the server at a host:port of this machine: nobody else is spoken to.
type Operator string

// Do gives a command, and returns the reply as go-redis reads it.
func (o Operator) Do(ctx context.Context, command ...string) (reply any, err error) {
	client := newClient(string(o))
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

// Time is what the server's wall clock shows.
func (o Operator) Time(ctx context.Context) (time.Time, error) {
	client := newClient(string(o))
	defer func() { _ = client.Close() }()
	return client.Time(ctx).Result()
}

// newClient returns a client that sends a command once, and only the context of that ends it.
// It is no method: who compiles against Operator would compile parts of go-redis again, which
// takes seconds.
func newClient(addr string) *redis.Client {
	return redis.NewClient(&redis.Options{
		Addr: addr, Protocol: 2, PoolSize: 1, MaxRetries: -1, DialerRetries: 1,
		ContextTimeoutEnabled: true, ReadTimeout: -1, WriteTimeout: -1, DisableIdentity: true,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
		Dialer:                   Dialer.DialContext,
	})
}

// Answers reports whether the server answers PING, which it does not while it loads what
// it has kept.
func (o Operator) Answers(ctx context.Context) bool {
	conn, err := Dialer.DialContext(ctx, "tcp", string(o))
	if err != nil {
		return false
	}
	defer func() { _ = conn.Close() }()
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	return Pongs(conn)
}

// Pongs reports whether who is at the other end of a connection answers PING, if only by
// asking for a password.
func Pongs(conn net.Conn) bool {
	reply := make([]byte, len(answers[0]))
	_, _ = io.WriteString(conn, "PING\r\n")
	_, _ = io.ReadFull(conn, reply)
	return slices.Contains(answers, string(reply)) // or another error, while it loads its file
}

// answers are what the first bytes of an answer can be.
var answers = []string{"+PONG", "-NOAU"}

// Life is that of a server, from a start to its end.
type Life interface {
	// Ended is closed after the end, of which Death then is the error.
	Ended() <-chan struct{}
	Death() error

	// Log is the end of what the server has said.
	Log() string
}

// pollEvery is the time between two looks at whether a server answers.
const pollEvery = 2 * time.Millisecond

// Await returns nil once the server answers PING in its life.
func (o Operator) Await(ctx context.Context, l Life) error {
	for !o.Answers(ctx) {
		select {
		case <-l.Ended():
			return l.Death()
		case <-ctx.Done():
			return fmt.Errorf("redis-server on %s does not answer (%w); the end of its log:\n%s", string(o), context.Cause(ctx), l.Log())
		case <-time.After(pollEvery):
		}
	}
	return nil
}

// CheckLoopback returns an error unless a host, an address without its port, is this machine's
// own.
func CheckLoopback(host string) error {
	if ip := net.ParseIP(host); host == "localhost" || ip != nil && ip.IsLoopback() {
		return nil
	}
	return fmt.Errorf("%s is not on this machine: nothing but loopback is spoken to", host)
}

// Dialer makes no connection to any other machine, whatever name led there.
var Dialer = &net.Dialer{Control: func(_, addr string, _ syscall.RawConn) error {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return err
	}
	return CheckLoopback(host)
}}
