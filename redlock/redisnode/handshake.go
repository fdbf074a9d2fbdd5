package redisnode

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/redis/go-redis/v9"
)

// Go-redis says HELLO when a connection is used for the first time, as a part of the
// request that uses it. There are two reasons to do the handshake while dialling instead:
//
//   - Go-redis closes the connection when the request is given up meanwhile. Where many are,
//     as after a partition, each makes a connection and throws it away unused, and the work of
//     making them keeps the next ones from getting ready in time. A dial outlives its
//     request: a connection that comes too late for its request is kept for another.
//   - Go-redis takes an error in reply to HELLO for a server without HELLO, and sends the
//     request all the same. A server that refuses the connection ("max number of clients
//     reached", -DENIED, -NOAUTH, -WRONGPASS) would look like one that has lost the request.
//     Here the dial fails with what the server said, and nothing else is ever sent.
//
// The handshake is one round trip: HELLO with the password, SELECT if there is a database to
// select, and INFO server for the run id.

// handshaker makes the handshake on a node's new connections.
type handshaker struct {
	node       int    // from 1
	words      []byte // of the whole handshake, in Redis' protocol
	selects    bool   // the second command is SELECT
	identities *identities
}

func newHandshaker(node int, o Options, all *identities) handshaker {
	hello := []string{"HELLO", "2"}
	if o.Password != "" {
		user := o.Username
		if user == "" {
			user = "default"
		}
		hello = append(hello, "AUTH", user, o.Password)
	}
	h := handshaker{node: node, words: encode(hello), selects: o.DB > 0, identities: all}
	if h.selects {
		h.words = append(h.words, encode([]string{"SELECT", strconv.Itoa(o.DB)})...)
	}
	h.words = append(h.words, encode([]string{"INFO", "server"})...)
	return h
}

// encode writes a command in Redis' protocol.
func encode(words []string) []byte {
	b := fmt.Appendf(nil, "*%d\r\n", len(words))
	for _, w := range words {
		b = fmt.Appendf(b, "$%d\r\n%s\r\n", len(w), w)
	}
	return b
}

// connect returns the connection once the server has accepted it and is not another node's. It
// closes one that it does not return.
func (h handshaker) connect(ctx context.Context, conn net.Conn) (net.Conn, error) {
	if err := h.run(ctx, conn); err != nil {
		_ = conn.Close() // the error that counts is the other
		return nil, err
	}
	c := &accepted{Conn: conn}
	if s, ok := conn.(syscall.Conn); ok { // by which go-redis looks whether the connection is alive
		return struct {
			*accepted
			syscall.Conn
		}{c, s}, nil
	}
	return c, nil
}

func (h handshaker) run(ctx context.Context, conn net.Conn) error {
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	run, err := h.exchange(conn)
	switch {
	case !stop(): // also if the handshake is over: the deadline may still be set, on a request of somebody else
		return fmt.Errorf("no answer to HELLO: %w", context.Cause(ctx))
	case err != nil:
		return err
	}
	if err := conn.SetDeadline(time.Time{}); err != nil {
		return err
	}
	return h.identities.meet(h.node, run)
}

// exchange returns the run id of the server, "" if it does not tell.
func (h handshaker) exchange(conn net.Conn) (run string, err error) {
	_, unwritten := conn.Write(h.words)
	read := bufio.NewReader(conn)
	err = accept(read, "HELLO")
	switch {
	case errors.As(err, new(refusal)): // also if the write has failed: who refuses a connection says so unasked, and hangs up
		return "", err
	case unwritten != nil:
		return "", fmt.Errorf("no answer to HELLO: %w", unwritten)
	case err != nil:
		return "", err
	}
	if h.selects {
		if err := accept(read, "SELECT"); err != nil {
			return "", err
		}
	}
	info, err := readReply(read, nil)
	switch {
	case err != nil:
		return "", fmt.Errorf("no answer to INFO: %w", err)
	case read.Buffered() > 0: // the next request would take it for its answer
		return "", errors.New("unexpected data after the handshake")
	case info[0] != '$': // the user may not ask, or the server has no such section
		return "", nil
	}
	run, _ = runID(string(info))
	return run, nil
}

// accept reads the reply to a command without which the connection is of no use.
func accept(read *bufio.Reader, command string) error {
	reply, err := readReply(read, nil)
	if err != nil {
		return fmt.Errorf("no answer to %s: %w", command, err)
	}
	if reply[0] == '-' {
		sentence, _, _ := strings.Cut(string(bytes.TrimSpace(reply[1:])), ". ") // protected mode is explained at length
		return refusal(sentence)
	}
	return nil
}

// refusal is a server's error in reply to the handshake, in its own words.
type refusal string

func (r refusal) Error() string { return string(r) }

// RedisError implements [redis.Error].
func (refusal) RedisError() {}

var _ redis.Error = refusal("")

// accepted is a connection after its handshake. Go-redis wants to say HELLO on it first, and
// is answered here, without asking the server again. Whatever else it says first goes to the
// server.
type accepted struct {
	net.Conn
	said  bool   // go-redis has said something
	reply []byte // that it is owed
}

// hello is what go-redis says first, and welcome what it is told: it makes nothing of what
// stands in the reply.
var (
	hello   = encode([]string{"hello", "2"})
	welcome = []byte("*0\r\n")
)

func (c *accepted) Write(p []byte) (int, error) {
	if c.said {
		return c.Conn.Write(p)
	}
	c.said = true
	own := len(hello)
	if len(p) < own || !strings.EqualFold(string(p[:own]), string(hello)) {
		return c.Conn.Write(p)
	}
	c.reply = welcome
	if len(p) == own {
		return own, nil
	}
	n, err := c.Conn.Write(p[own:]) // whose replies follow on that
	return own + n, err
}

func (c *accepted) Read(p []byte) (int, error) {
	if len(c.reply) > 0 {
		n := copy(p, c.reply)
		c.reply = c.reply[n:]
		return n, nil
	}
	return c.Conn.Read(p)
}
