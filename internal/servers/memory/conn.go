package memory

import (
	"bytes"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/alicebob/miniredis/v2/server"

	"github.com/lockstorm/lockstorm/env"
	"github.com/lockstorm/lockstorm/internal/servers/wire"
)

// Connect implements [wire.Host]. A server that stands still has a kernel that accepts. A
// machine without power says nothing; its links are silent until it is back and knows
// nothing of the connection.
func (n *node) Connect(client int) (wire.Session, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	ours, its := net.Pipe()
	switch {
	case n.dark:
		return darkConn{ours}, its.Close()
	case n.run == nil:
		return nil, syscall.ECONNREFUSED
	}
	n.run.server.ServeConn(its)
	return &conn{Conn: ours, client: client, node: n, life: n.run, closed: make(chan struct{})}, nil
}

// darkConn is a connection to a node that does not answer.
type darkConn struct{ net.Conn }

// Ask implements [wire.Session].
func (s darkConn) Ask([]byte, time.Time) error { return syscall.ECONNRESET }

// conn is a client's end of a connection to a server.
type conn struct {
	net.Conn
	client int
	node   *node
	life   *serverRun

	known  bool    // to the server: it has been told whose the connection is
	frames commandCounter // of what is asked

	mu     sync.Mutex
	coming []env.Instant // when the commands were sent that the server has not begun

	sent env.Instant // when that was sent which the server carries out; for who does so

	closing sync.Once
	closed  chan struct{}
}

// Ask implements [wire.Session]: it lets the server do something, when it does not stand
// still, by its clock.
func (c *conn) Ask(piece []byte, sent time.Time) error {
	if err := c.awaitRunning(); err != nil {
		return err
	}
	if !c.known {
		c.known = true
		if err := c.identify(); err != nil {
			return err
		}
	}
	c.noteSent(c.frames.count(piece), sent)
	c.node.clock.tick()
	c.node.sync(c.life)
	_, err := c.Write(piece)
	return err
}

// awaitRunning returns when the server does not stand still.
func (c *conn) awaitRunning() error {
	for still := c.node.stopped(c.life); still != nil; still = c.node.stopped(c.life) {
		select {
		case <-still:
		case <-c.life.over:
			return syscall.ECONNRESET
		case <-c.closed:
			return net.ErrClosed
		}
	}
	return nil
}

// Read hears what the server says, which it does not while it stands still.
func (c *conn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if still := c.awaitRunning(); still != nil {
		return 0, still
	}
	return n, err
}

// noteSent takes down when so many commands were sent. The server reads on while it carries out
// one, so that what has come last is not what it is about.
func (c *conn) noteSent(commands int, sent time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	at := max(env.Instant(sent.Sub(c.node.clock.machine.began)), 1)
	c.coming = append(c.coming, slices.Repeat([]env.Instant{at}, commands)...)
}

// nextCommand takes note that the server begins with the next command.
func (c *conn) nextCommand() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.coming) > 0 {
		c.sent, c.coming = c.coming[0], c.coming[1:]
	}
}

// identifyCommand is a command of ours, by which a server learns which of its peers is the other
// end of a connection: miniredis does not tell.
const identifyCommand = "LOCKSTORM-INTRODUCTION"

// identify has the server know whose the connection is. It does not answer.
func (c *conn) identify() error {
	c.node.mu.Lock()
	c.life.coming = append(c.life.coming, c)
	number := strconv.Itoa(len(c.life.coming))
	c.node.mu.Unlock()
	_, err := fmt.Fprintf(c, "*2\r\n$%d\r\n%s\r\n$%d\r\n%s\r\n", len(identifyCommand), identifyCommand, len(number), number)
	return err
}

// identify takes down who a peer is.
func (n *node) identify(l *serverRun, c *server.Peer, words []string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if number, err := strconv.Atoi(strings.Join(words, "")); err == nil && number >= 1 && number <= len(l.coming) {
		l.peers[c], l.coming[number-1] = l.coming[number-1], nil
	}
	c.OnDisconnect(func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		delete(l.peers, c)
	})
}

// Close implements [net.Conn].
func (c *conn) Close() error {
	c.closing.Do(func() { close(c.closed) })
	return c.Conn.Close()
}

// commandCounter tells the commands apart in what is asked, which are arrays of strings: it may come
// in pieces of any size.
type commandCounter struct {
	line    []byte // that has begun
	strings int    // of a command that are still to come
	bytes   int    // of a string that are still to come, with the end of its line
}

// count returns how many commands end in the next piece.
func (f *commandCounter) count(piece []byte) (commands int) {
	for len(piece) > 0 {
		if f.bytes == 0 {
			piece = f.readLength(piece)
			continue
		}
		n := min(f.bytes, len(piece))
		f.bytes, piece = f.bytes-n, piece[n:]
		if f.bytes > 0 {
			break
		}
		if f.strings--; f.strings == 0 {
			commands++
		}
	}
	return commands
}

// readLength reads up to the end of a line that says how much follows, and returns the rest.
func (f *commandCounter) readLength(piece []byte) (rest []byte) {
	line, rest, whole := bytes.Cut(piece, []byte("\n"))
	f.line = append(f.line, line...)
	if !whole {
		return nil
	}
	if text := bytes.TrimSuffix(f.line, []byte("\r")); len(text) > 1 {
		switch n, _ := strconv.Atoi(string(text[1:])); text[0] {
		case '*':
			f.strings = n
		case '$':
			f.bytes = n + len("\r\n")
		}
	}
	f.line = f.line[:0]
	return rest
}
