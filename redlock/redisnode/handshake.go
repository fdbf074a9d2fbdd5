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
	"strings"
	"syscall"
	"time"

	"github.com/redis/go-redis/v9"
)

// Go-redis sends HELLO with the first request on a connection. This package makes the handshake
// while dialling instead, for two reasons:
//
//   - Go-redis closes the connection if that request expires during the handshake. After a
//     partition many requests expire: each would make a connection and discard it unused, and
//     this work would delay the next ones. A dial outlives its request, so a connection that is
//     ready too late is kept for the next request.
//   - Go-redis takes an error reply to HELLO to mean a server without HELLO, and sends the request
//     all the same. A server that refuses the connection ("max number of clients reached",
//     -DENIED, -NOAUTH, -WRONGPASS) would look as if it had lost the request. Here the dial fails
//     with the server's error, and nothing else is sent.
//
// The handshake is one round trip: HELLO with the password, SELECT if there is a database to
// select, and INFO server for the run id and the version.

// handshaker makes the handshake on a node's new connections.
type handshaker struct {
	node    int    // from 1
	request []byte // the whole handshake, encoded
	selects bool   // the second command is SELECT
	servers *servers
}

func newHandshaker(node int, o Options, all *servers) handshaker {
	hello := []string{"HELLO", "2"}
	if o.Password != "" {
		user := o.Username
		if user == "" {
			user = "default"
		}
		hello = append(hello, "AUTH", user, o.Password)
	}
	h := handshaker{node: node, request: encode(hello), selects: o.DB > 0, servers: all}
	if h.selects {
		h.request = append(h.request, encode([]string{"SELECT", strconv.Itoa(o.DB)})...)
	}
	h.request = append(h.request, encode([]string{"INFO", "server"})...)
	return h
}

// encode encodes a command in RESP, Redis' protocol.
func encode(args []string) []byte {
	b := fmt.Appendf(nil, "*%d\r\n", len(args))
	for _, w := range args {
		b = fmt.Appendf(b, "$%d\r\n%s\r\n", len(w), w)
	}
	return b
}

// connect makes the handshake and returns the connection. On an error, also if the server is
// that of another node, it closes conn.
func (h handshaker) connect(ctx context.Context, conn net.Conn) (net.Conn, error) {
	if err := h.handshake(ctx, conn); err != nil {
		_ = conn.Close() // the handshake's error is the one to return
		return nil, err
	}
	c := &accepted{Conn: conn}
	if s, ok := conn.(syscall.Conn); ok { // go-redis checks with it whether the connection is alive
		return struct {
			*accepted
			syscall.Conn
		}{c, s}, nil
	}
	return c, nil
}

func (h handshaker) handshake(ctx context.Context, conn net.Conn) error {
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	info, err := h.exchange(conn)
	switch {
	case !stop(): // even if the handshake has succeeded: the deadline could still be set during a later request
		return fmt.Errorf("no answer to HELLO: %w", context.Cause(ctx))
	case err != nil:
		return err
	}
	if err := conn.SetDeadline(time.Time{}); err != nil {
		return err
	}
	return h.servers.register(h.node, info)
}

// exchange sends the handshake and returns what INFO says of the server, "" if it says nothing.
func (h handshaker) exchange(conn net.Conn) (info string, err error) {
	_, unwritten := conn.Write(h.request)
	read := bufio.NewReader(conn)
	err = accept(read, "HELLO")
	switch {
	case errors.As(err, new(refusal)): // checked before the write error: a server that refuses a connection sends the reason unasked and hangs up
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
	reply, err := readReply(read, nil)
	switch {
	case err != nil:
		return "", fmt.Errorf("no answer to INFO: %w", err)
	case read.Buffered() > 0: // the next request would read it as its reply
		return "", errors.New("unexpected data after the handshake")
	case reply[0] != '$': // the user has no right to INFO, or the server has no such section
		return "", nil
	}
	return string(reply), nil
}

// accept reads the reply to a command that has to succeed.
func accept(read *bufio.Reader, command string) error {
	reply, err := readReply(read, nil)
	if err != nil {
		return fmt.Errorf("no answer to %s: %w", command, err)
	}
	if reply[0] == '-' {
		sentence, _, _ := strings.Cut(string(bytes.TrimSpace(reply[1:])), ". ") // the error of protected mode is several sentences long
		return refusal(sentence)
	}
	return nil
}

// refusal is the server's error reply to the handshake.
type refusal string

func (r refusal) Error() string { return string(r) }

// RedisError implements [redis.Error].
func (refusal) RedisError() {}

var _ redis.Error = refusal("")

// accepted is a connection after its handshake. Go-redis sends HELLO on it first; accepted
// answers that itself. If go-redis sends anything else first, it goes to the server.
type accepted struct {
	net.Conn
	wrote bool   // go-redis has written something
	reply []byte // still to be read by go-redis
}

// hello is what go-redis sends first, and welcome the reply, whose content it ignores.
var (
	hello   = encode([]string{"hello", "2"})
	welcome = []byte("*0\r\n")
)

func (c *accepted) Write(p []byte) (int, error) {
	if c.wrote {
		return c.Conn.Write(p)
	}
	c.wrote = true
	own := len(hello)
	if len(p) < own || !strings.EqualFold(string(p[:own]), string(hello)) {
		return c.Conn.Write(p)
	}
	c.reply = welcome
	if len(p) == own {
		return own, nil
	}
	n, err := c.Conn.Write(p[own:]) // their replies follow that to HELLO
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

// maxReply is the longest string, in bytes, and the longest array that a handshake reads. INFO
// server takes about 1 KB; its paths may be longer.
const maxReply = 1 << 16

// readReply appends one whole RESP2 reply, still encoded.
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
		if err != nil || n > maxReply {
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
	return nil, fmt.Errorf("%q is not a reply of Redis", line)
}

// readText appends n bytes and their line end; a null string, of -1 bytes, has none.
func readText(r *bufio.Reader, reply []byte, n int) ([]byte, error) {
	if n < 0 {
		return reply, nil
	}
	text := make([]byte, n+len("\r\n"))
	_, err := io.ReadFull(r, text)
	return append(reply, text...), err
}
